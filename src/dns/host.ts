/** Host names as the management API takes them: any case, with or without a dot, Unicode or not. */
import { domainToASCII } from "node:url";
import { NameFault, quote } from "./fault.ts";
import { lowerName, parseName } from "./name.ts";

/** Written by people who mean a URL, an address or a list, none of which is a name. */
const NOT_IN_A_HOST = /[:,<>?#[\]{}|^`]/;

/** A name from the API: absolute, lower case, Unicode as punycode (UTS 46). */
export function parseHost(text: string): string {
  return lowerName(parseHostKeepingCase(text));
}

/** As `parseHost`, for the few names whose spelling is kept. */
export function parseHostKeepingCase(text: string): string {
  const name = parseName(toAsciiName(text.trim()));
  // An `@` would be a mail address, or the zone's apex, which the API does not know here.
  if (NOT_IN_A_HOST.test(name) || /(?<!\\)@/.test(text)) {
    throw new NameFault("bad-character", `${quote(text)} is not a host name`);
  }
  return name;
}

/** Turns labels of other scripts into punycode and leaves the rest as it is. */
export function toAsciiName(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text
    .split(".")
    .map((label) => (/^[\x20-\x7e]*$/.test(label) ? label : asciiLabel(label, text)))
    .join(".");
}

function asciiLabel(label: string, whole: string): string {
  // The second label keeps a label of digits from being read as an IPv4 address.
  const ascii = domainToASCII(`${label}.x`);
  if (ascii === "") throw new NameFault("bad-character", `${quote(whole)} is not a host name`);
  return ascii.slice(0, -2);
}

/** Whether a name is an address that somebody took for a name: `192.0.2.1.`. */
export function isAddressLike(name: string): boolean {
  return /^(?:\d{1,3}\.){4}$/.test(name) || name.includes(":");
}
