/** What the headers of a write ask for, and those that would lose a promise if they went unheard. */
import type { WriteOptions } from "#objects";
import type { HeaderSource } from "./call.ts";
import { customerKeyOf } from "./encryption.ts";
import { S3Fault } from "./fault.ts";
import { customMetadataOf, httpMetadataOf, storageClassOf } from "./object-metadata.ts";
import { tagsOfHeader } from "./tags.ts";

export function writeOptionsOf(call: HeaderSource): WriteOptions {
  refuseUnheard(call);
  const storageClass = storageClassOf(call);
  const encryption = customerKeyOf(call);
  const tagging = call.header("x-amz-tagging");
  return {
    http: httpMetadataOf(call),
    custom: customMetadataOf(call),
    ...(storageClass !== undefined && { storageClass }),
    ...(encryption !== undefined && { encryption }),
    ...(tagging !== undefined && tagging !== "" && { tags: tagsOfHeader(tagging) }),
  };
}

/** Access is given by keys and public buckets; these say nothing else than what is so anyway. */
const HARMLESS_ACLS: ReadonlySet<string> = new Set([
  "private",
  "bucket-owner-full-control",
  "bucket-owner-read",
]);

/** Headers that ask for what is not offered, whatever their value. */
const NOT_OFFERED = /^x-amz-(?:object-lock-|grant-|website-redirect-location$|write-offset-bytes$)/;

/** Refuses what would lose a guarantee in silence; all else may be left unheard. */
export function refuseUnheard(call: HeaderSource): void {
  for (const [rest, value] of call.headersUnder("x-amz-")) {
    const name = `x-amz-${rest}`;
    const isRefused =
      (name === "x-amz-acl" && !HARMLESS_ACLS.has(value)) ||
      (name === "x-amz-bucket-object-lock-enabled" && value.toLowerCase() !== "false") ||
      (rest.startsWith("server-side-encryption") && !rest.includes("-customer-")) ||
      NOT_OFFERED.test(name);
    if (!isRefused) continue;
    const message = `Header '${name}' with value '${value.slice(0, 80)}' is not implemented.`;
    throw new S3Fault("NotImplemented", message, { extra: { Header: name } });
  }
}
