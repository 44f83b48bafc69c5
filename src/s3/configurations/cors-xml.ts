/** A bucket's CORS rules as S3 spells them. */
import type { XmlElement } from "#kit/xml.ts";
import type { CorsRule } from "#objects";
import { group, tag, xmlDocument } from "../xml/write.ts";
import { Elements } from "./elements.ts";

export const CORS_ROOT = "CORSConfiguration";

const FIELDS = [
  "ID",
  "AllowedOrigin",
  "AllowedMethod",
  "AllowedHeader",
  "ExposeHeader",
  "MaxAgeSeconds",
];

export function readCors(root: XmlElement): CorsRule[] {
  return new Elements(root, ["CORSRule"]).all("CORSRule").map((element) => {
    const rule = new Elements(element, FIELDS);
    const id = rule.text("ID");
    const maxAgeSeconds = rule.number("MaxAgeSeconds");
    return {
      ...(id !== null && { id }),
      origins: rule.texts("AllowedOrigin"),
      methods: rule.texts("AllowedMethod"),
      headers: rule.texts("AllowedHeader"),
      exposed: rule.texts("ExposeHeader"),
      ...(maxAgeSeconds !== null && { maxAgeSeconds }),
    };
  });
}

export function writeCors(rules: readonly CorsRule[]): string {
  const all = (name: string, texts: readonly string[]) =>
    texts.map((text) => tag(name, text)).join("");
  const shown = rules.map(({ id, origins, methods, headers, exposed, maxAgeSeconds }) =>
    group(
      "CORSRule",
      tag("ID", id) +
        all("AllowedOrigin", origins) +
        all("AllowedMethod", methods) +
        all("AllowedHeader", headers) +
        all("ExposeHeader", exposed) +
        tag("MaxAgeSeconds", maxAgeSeconds),
    ),
  );
  return xmlDocument(CORS_ROOT, shown.join(""));
}
