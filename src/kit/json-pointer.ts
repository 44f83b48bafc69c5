/** Names a place in a JSON document. RFC 6901. */
import { shorten } from "./shorten.ts";

/** `/policies/0/name`. A key as long as a book is shortened: the pointer is for a person to read. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${shorten(String(part)).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}
