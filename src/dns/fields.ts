/**
 * The kinds of field that record data is made of. A field knows itself in three forms: on the wire
 * (`read`, `write`), as presentation text (`parse`, `print`), in the API's JSON (`take`, `give`).
 */
import { isIpv4, parseIpv4, parseIpv6, printIpv4, printIpv6 } from "./address.ts";
import { NameFault, quote, RecordFault, WireFault } from "./fault.ts";
import { parseHost, parseHostKeepingCase } from "./host.ts";
import { parseName } from "./name.ts";
import { decodeUtf8, printQuoted, type TextReader, type Token, unescapeText } from "./text.ts";
import { parseTtl } from "./ttl.ts";
import type { WireReader, WireWriter } from "./wire.ts";

/** `name` is the field's, in the API's spelling, for messages. */
export interface Field<T> {
  read(this: void, wire: WireReader, name: string): T;
  write(this: void, wire: WireWriter, value: T): void;
  parse(this: void, text: TextReader, name: string): T;
  print(this: void, value: T): string;
  take(this: void, json: unknown, name: string): T;
  give(this: void, value: T): unknown;
  /** How many octets it takes, when it takes all that is left and so has no limit of its own. */
  bulk?(this: void, value: T): number;
}

/** A character string holds at most this, for its length is one octet. RFC 1035 §3.3. */
export const MAX_STRING_OCTETS = 255;

function wholeNumber(
  most: number,
  wire: Pick<Field<number>, "read" | "write">,
  parse: (text: string) => number | null = decimal,
): Field<number> {
  const checked = (value: number | null, given: unknown, name: string) => {
    if (value !== null && Number.isInteger(value) && value >= 0 && value <= most) return value;
    throw new RecordFault(
      "bad-field",
      name,
      `The ${name} ${quote(given)} is not a whole number from 0 to ${most}`,
    );
  };
  return {
    ...wire,
    parse: (text, name) => {
      const word = text.word(name);
      return checked(parse(word), word, name);
    },
    print: String,
    // Terraform sends numbers as text, and some clients as floats.
    take: (json, name) =>
      checked(typeof json === "string" ? decimal(json.trim()) : numberIn(json), json, name),
    give: (value) => value,
  };
}

function numberIn(json: unknown): number {
  return typeof json === "number" ? json : Number.NaN;
}

function decimal(text: string): number | null {
  return /^\d{1,10}$/.test(text) ? Number(text) : null;
}

export const u8 = wholeNumber(0xff, {
  read: (wire) => wire.u8(),
  write: (wire, value) => wire.u8(value),
});

export const u16 = wholeNumber(0xffff, {
  read: (wire) => wire.u16(),
  write: (wire, value) => wire.u16(value),
});

const u32Wire: Pick<Field<number>, "read" | "write"> = {
  read: (wire) => wire.u32(),
  write: (wire, value) => wire.u32(value),
};

export const u32 = wholeNumber(0xffff_ffff, u32Wire);

/** A time that may be written with units, as `1h30m`. */
export const seconds = wholeNumber(0xffff_ffff, u32Wire, parseTtl);

/** A number that text may also give by its mnemonic. */
export function numberOr(
  base: Field<number>,
  names: Readonly<Record<string, number>>,
): Field<number> {
  return {
    ...base,
    parse: (text, name) => {
      const value = names[text.peek()?.text.toUpperCase() ?? ""];
      if (value === undefined) return base.parse(text, name);
      text.next(name);
      return value;
    },
    take: (json, name) =>
      (typeof json === "string" ? names[json.toUpperCase()] : undefined) ?? base.take(json, name),
  };
}

export interface NameOptions {
  /** May be compressed: only what RFC 1035 defines. RFC 3597 §4. */
  readonly compress?: boolean;
  /** Newer than RFC 3597: never compressed, its spelling kept even in the canonical form. */
  readonly modern?: boolean;
}

export function domainName({ compress = false, modern = false }: NameOptions = {}): Field<string> {
  const parseAsHost = modern ? parseHostKeepingCase : parseHost;
  const take = (json: unknown, name: string) => hostField(json, name, parseAsHost);
  return {
    read: (wire) => wire.name({ pointers: !modern }),
    write: (wire, value) => wire.name(value, { compress, fold: !modern }),
    parse: (text, name) => {
      const { origin } = text;
      const word = text.word(name);
      if (origin === null) return take(word, name);
      return asTarget(name, () => parseName(word, origin));
    },
    print: (value) => value,
    take,
    give: (value) => value,
  };
}

/** A host name from the API's JSON. */
export function hostField(json: unknown, name: string, parse = parseHost): string {
  return asTarget(name, () => parse(stringField(json, name)));
}

function asTarget(name: string, parse: () => string): string {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof NameFault)) throw error;
    throw new RecordFault("bad-target", name, error.message, { cause: error });
  }
}

export function stringField(json: unknown, name: string): string {
  if (typeof json === "string") return json;
  throw new RecordFault("bad-field", name, `The ${name} ${quote(json)} is not text`);
}

function address(
  kind: "bad-address-v4" | "bad-address-v6",
  length: number,
  parse: (text: string) => Uint8Array | null,
  print: (octets: Uint8Array) => string,
  normal: (text: string) => string | null,
): Field<string> {
  const canonical = (text: string, name: string) => {
    const address = normal(text);
    if (address !== null) return address;
    const family = kind === "bad-address-v4" ? "IPv4" : "IPv6";
    throw new RecordFault(kind, name, `${quote(text)} is not an ${family} address`);
  };
  return {
    read: (wire) => print(wire.bytes(length)),
    write: (wire, value) => wire.bytes(parse(value)!),
    parse: (text, name) => canonical(text.word(name), name),
    print: (value) => value,
    take: (json, name) => canonical(stringField(json, name).trim(), name),
    give: (value) => value,
  };
}

// IPv4 has one way to be written, so text that is an address is already normal.
export const ipv4 = address("bad-address-v4", 4, parseIpv4, printIpv4, (text) =>
  isIpv4(text) ? text : null,
);
export const ipv6 = address("bad-address-v6", 16, parseIpv6, printIpv6, (text) => {
  const octets = parseIpv6(text);
  return octets === null ? null : printIpv6(octets);
});

/** A character string with its length octet. RFC 1035 §3.3. */
export const characterString: Field<Uint8Array> = {
  read: (wire) => wire.bytes(wire.u8()),
  write: (wire, value) => {
    wire.u8(value.length);
    wire.bytes(value);
  },
  parse: (text, name) => shortString(unescapeText(text.next(name).text), name),
  print: printQuoted,
  take: (json, name) => shortString(Buffer.from(stringField(json, name), "utf8"), name),
  give: showText,
};

function shortString(octets: Uint8Array, name: string): Uint8Array {
  if (octets.length <= MAX_STRING_OCTETS) return octets;
  throw new RecordFault(
    "too-long",
    name,
    `The ${name} has ${octets.length} octets; ${MAX_STRING_OCTETS} are the limit`,
  );
}

/** Octets to the end of the data, without a length, written as one string. */
export const stringToEnd: Field<Uint8Array> = {
  ...characterString,
  read: (wire) => wire.bytes(),
  write: (wire, value) => wire.bytes(value),
  parse: (text, name) => unescapeText(text.next(name).text),
  take: (json, name) => Buffer.from(stringField(json, name), "utf8"),
  bulk: (value) => value.length,
};

/** Octets as text for JSON; what is not UTF-8 keeps its escapes. */
export function showText(octets: Uint8Array): string {
  return decodeUtf8(octets) ?? printQuoted(octets).slice(1, -1);
}

function encodedToEnd(
  decode: (text: string) => Uint8Array | null,
  encoding: "hex" | "base64",
): Field<Uint8Array> {
  const decoded = (text: string, name: string) => {
    if (text === "") throw new RecordFault("missing-field", name, `The ${name} is missing`);
    const octets = decode(text);
    if (octets !== null) return octets;
    throw new RecordFault("bad-field", name, `The ${name} ${quote(text)} is not ${encoding}`);
  };
  return {
    read: (wire, name) => {
      if (wire.left === 0) throw new WireFault(`The ${name} is missing`);
      return wire.bytes();
    },
    write: (wire, value) => wire.bytes(value),
    // It may be cut into words anywhere. RFC 4034 §2.2, §5.3.
    parse: (text, name) => decoded(joinWords(text.rest()), name),
    print: (value) => Buffer.from(value).toString(encoding),
    take: (json, name) => decoded(stringField(json, name).replaceAll(/\s+/g, ""), name),
    give: (value) => Buffer.from(value).toString(encoding),
    bulk: (value) => value.length,
  };
}

function joinWords(tokens: readonly Token[]): string {
  return tokens.map((token) => token.text).join("");
}

export const hexToEnd = encodedToEnd(decodeHex, "hex");
export const base64ToEnd = encodedToEnd(decodeBase64, "base64");

export function decodeHex(text: string): Uint8Array | null {
  return text.length % 2 === 0 && /^[0-9a-f]*$/i.test(text) ? Buffer.from(text, "hex") : null;
}

/** Base 64 with its padding, or with all of it left off. RFC 4648 §4. */
export function decodeBase64(text: string): Uint8Array | null {
  const match = /^([A-Za-z0-9+/]*)(={0,2})$/.exec(text);
  if (match === null || match[1]!.length % 4 === 1) return null;
  if (match[2] !== "" && text.length % 4 !== 0) return null;
  return Buffer.from(text, "base64");
}
