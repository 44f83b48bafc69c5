/** Which request fields tell the responses of one URL apart. RFC 9111 §4.1. */
import {
  fieldOf,
  membersOf,
  type RawHeaders,
  type RequestHeaders,
  requestField,
} from "./headers.ts";

/** The fields that a response varies on: lower case, in order, each once. `*` never gets here. */
export function varyNames(headers: RawHeaders): readonly string[] {
  const vary = fieldOf(headers, "vary");
  return vary === null ? [] : [...new Set(membersOf(vary.toLowerCase()))].sort();
}

/** What a request says in these fields; two that say the same have the same text. */
export function variantOf(names: readonly string[], request: RequestHeaders): string {
  let variant = "";
  for (const name of names) {
    const value = requestField(request, name);
    variant += value === undefined ? "-\n" : `+${normalised(name, value)}\n`;
  }
  return variant;
}

/** White space around commas and semicolons says nothing; nor does the order of content codings, or `q=1`. */
function normalised(name: string, value: string): string {
  const members = membersOf(value).map(withoutSpace);
  if (name !== "accept-encoding") return members.join(",");
  const codings = members.map((member) => member.toLowerCase().replace(/;q=1(?:\.0*)?$/, ""));
  return codings.sort().join(",");
}

function withoutSpace(member: string): string {
  return member.includes(";")
    ? member
        .split(";")
        .map((part) => part.trim())
        .join(";")
    : member;
}
