/**
 * Domain names. Inside, a name is text in one form: absolute, with its last dot, and escaped in one
 * way, so that equal text is an equal name but for case. RFC 1035 §2.3 and §5.1, RFC 4343 for case,
 * RFC 4034 §6.1 for order.
 */
import { NameFault, quote } from "./fault.ts";
import { backslash, decimalEscape, escapedOctet } from "./escape.ts";

/** RFC 1035 §2.3.4. */
export const MAX_LABEL_OCTETS = 63;
/** RFC 1035 §2.3.4, with the length octets and the root's. */
export const MAX_NAME_OCTETS = 255;

/** Names that need no second look: short labels of letters, digits and marks that nobody escapes. */
const PLAIN = /^[A-Za-z0-9_*/+=-]{1,63}(?:\.[A-Za-z0-9_*/+=-]{1,63})*\.?$/;

/** Reads a name as people write it; without a last dot it is relative to the origin, `@` is it. */
export function parseName(text: string, origin = "."): string {
  if (text === "@") return origin;
  if (text === ".") return text;
  const name = PLAIN.test(text) ? text : normalised(text);
  const absolute = name.endsWith(".") && !isEscapedAt(name, name.length - 1);
  const full = absolute ? name : origin === "." ? `${name}.` : `${name}.${origin}`;
  if (full.length >= MAX_NAME_OCTETS && wireLength(full) > MAX_NAME_OCTETS) {
    throw new NameFault(
      "name-too-long",
      `${quote(full)} takes ${wireLength(full)} octets; a name has at most ${MAX_NAME_OCTETS}`,
    );
  }
  return full;
}

/** The same name with every escape in the one form; keeps the text relative if it was. */
function normalised(text: string): string {
  if (text === "") throw new NameFault("empty", "A name cannot be empty");
  const octets = Buffer.from(text, "utf8");
  const labels: string[] = [];
  let label: number[] = [];
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at]!;
    if (octet === 0x2e) {
      labels.push(checkedLabel(label, text));
      label = [];
    } else if (octet === backslash) {
      const escaped = escapedOctet(octets, at);
      if (escaped === null) {
        throw new NameFault("bad-escape", `${quote(text)} has an escape that is not one`);
      }
      label.push(escaped.octet);
      at += escaped.length - 1;
    } else if (isBreaking(octet)) {
      throw new NameFault("bad-character", `${quote(text)} has a character no name has unescaped`);
    } else {
      label.push(octet);
    }
  }
  if (label.length > 0) labels.push(checkedLabel(label, text));
  else labels.push(""); // It ended in a dot.
  return labels.join(".");
}

function checkedLabel(octets: readonly number[], text: string): string {
  if (octets.length === 0) {
    throw new NameFault("empty-label", `${quote(text)} has an empty label`);
  }
  if (octets.length > MAX_LABEL_OCTETS) {
    throw new NameFault(
      "label-too-long",
      `${quote(text)} has a label of ${octets.length} octets; ${MAX_LABEL_OCTETS} are the limit`,
    );
  }
  return printLabel(octets);
}

/** White space and what the zone file keeps for itself: `"`, `(`, `)`, `;`. */
function isBreaking(octet: number): boolean {
  return octet <= 0x20 || octet === 0x22 || octet === 0x28 || octet === 0x29 || octet === 0x3b;
}

const MARKS = new Set(Buffer.from('.;()@$"\\'));

/** A label's octets in the one form of text. */
export function printLabel(octets: ArrayLike<number>): string {
  let text = "";
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at]!;
    if (octet < 0x21 || octet > 0x7e) text += decimalEscape(octet);
    else text += MARKS.has(octet) ? `\\${String.fromCharCode(octet)}` : String.fromCharCode(octet);
  }
  return text;
}

/** The octets of a label of a name in its one form, as a string of characters 0 to 255. */
export function labelOctets(label: string): string {
  if (!label.includes("\\")) return label;
  return label.replaceAll(/\\(?:(\d{3})|(.))/g, (_, code: string | undefined, char: string) =>
    code === undefined ? char : String.fromCharCode(Number(code)),
  );
}

/** The labels from the left, escaped as in the name; the root has none. */
export function splitLabels(name: string): string[] {
  if (name === ".") return [];
  if (!name.includes("\\")) return name.slice(0, -1).split(".");
  const labels: string[] = [];
  for (let start = 0; start < name.length;) {
    const dot = nextDot(name, start);
    labels.push(name.slice(start, dot));
    start = dot + 1;
  }
  return labels;
}

/** The name one label up; null above the root. */
export function parentName(name: string): string | null {
  if (name === ".") return null;
  return name.slice(nextDot(name, 0) + 1) || ".";
}

function nextDot(name: string, from: number): number {
  let dot = name.indexOf(".", from);
  while (isEscapedAt(name, dot)) dot = name.indexOf(".", dot + 1);
  return dot;
}

function isEscapedAt(name: string, at: number): boolean {
  let start = at;
  while (name.charCodeAt(start - 1) === backslash) start--;
  return (at - start) % 2 === 1;
}

/** How many octets the name takes on the wire, uncompressed. */
export function wireLength(name: string): number {
  if (name === ".") return 1;
  if (!name.includes("\\")) return name.length + 1;
  return splitLabels(name).reduce((sum, label) => sum + 1 + labelOctets(label).length, 1);
}

/** Lower case for ASCII letters, which is the only case DNS knows. RFC 4343. */
export function lowerName(name: string): string {
  return name.toLowerCase(); // Everything outside ASCII is escaped, so this touches nothing else.
}

/** Whether the child is the parent or lies below it. */
export function isSubdomain(child: string, parent: string): boolean {
  if (parent === "." || child === parent) return true;
  if (!child.endsWith(parent) && !lowerName(child).endsWith(lowerName(parent))) return false;
  const dot = child.length - parent.length - 1;
  return dot === -1 || (child[dot] === "." && !isEscapedAt(child, dot));
}

/** Orders names as DNSSEC does: by label from the right, as lower-case octets. RFC 4034 §6.1. */
export function compareNames(left: string, right: string): number {
  if (left === right) return 0;
  const a = splitLabels(lowerName(left));
  const b = splitLabels(lowerName(right));
  for (let i = 1; i <= a.length && i <= b.length; i++) {
    const x = labelOctets(a[a.length - i]!);
    const y = labelOctets(b[b.length - i]!);
    if (x !== y) return x < y ? -1 : 1;
  }
  return a.length - b.length;
}

/** The name as the API has it: without the last dot, but the root stays a dot. */
export function withoutDot(name: string): string {
  return name === "." ? name : name.slice(0, -1);
}

/** The name with its last dot, whether it had one or not. */
export function withDot(name: string): string {
  return name.endsWith(".") && !isEscapedAt(name, name.length - 1) ? name : `${name}.`;
}
