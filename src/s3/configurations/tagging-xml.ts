/** Tags as S3 spells them, of buckets and of objects. */
import type { XmlElement } from "#kit/xml.ts";
import { S3Fault } from "../fault.ts";
import { group, tag, xmlDocument } from "../xml/write.ts";
import { Elements, malformed } from "./elements.ts";

export const TAGGING_ROOT = "Tagging";

export function readTagging(root: XmlElement): Record<string, string> {
  const set = new Elements(root, ["TagSet"]).one("TagSet");
  if (set === null) throw malformed(`<${TAGGING_ROOT}> needs <TagSet>`);
  return readTags(new Elements(set, ["Tag"]).all("Tag"));
}

/** No two may have one key. */
export function readTags(elements: readonly XmlElement[]): Record<string, string> {
  const tags = new Map<string, string>();
  for (const element of elements) {
    const fields = new Elements(element, ["Key", "Value"]);
    const key = fields.needed("Key");
    if (tags.has(key)) {
      throw new S3Fault("InvalidTag", "Cannot provide multiple Tags with the same key");
    }
    tags.set(key, fields.needed("Value"));
  }
  return Object.fromEntries(tags);
}

export function writeTagging(tags: Readonly<Record<string, string>>): string {
  return xmlDocument(TAGGING_ROOT, group("TagSet", writeTags(tags)));
}

export function writeTags(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([key, value]) => group("Tag", tag("Key", key) + tag("Value", value)))
    .join("");
}
