/** `httpMetadata`, `customMetadata` and checksums: from arguments to the wire, and onto headers. */
import { dateField, octetsOf, toHex, toText, wrongField } from "./convert.ts";
import { headerDate } from "./conditional.ts";
import { type Algorithm, ALGORITHMS, type WireHttpFields, type WireWrite } from "./protocol.ts";
import type { StoreHTTPMetadata } from "./types.ts";

type TextField = Exclude<keyof WireHttpFields, "cacheExpiry">;

/** Each field and its header. */
const HEADERS: readonly (readonly [TextField, string])[] = [
  ["contentType", "content-type"],
  ["contentLanguage", "content-language"],
  ["contentDisposition", "content-disposition"],
  ["contentEncoding", "content-encoding"],
  ["cacheControl", "cache-control"],
];
const EXPIRES = "expires";

/** Reads what a write stores beside the octets, in the order of the original. */
export function toWrite(options: Record<string, unknown>, struct: string): WireWrite {
  const http = toHttpFields(options["httpMetadata"], struct);
  const custom = toCustom(options["customMetadata"], struct);
  return { ...(http && { http }), ...(custom && { custom }) };
}

export function toStorageClass(options: Record<string, unknown>): { storageClass?: string } {
  const value = options["storageClass"];
  return value === undefined ? {} : { storageClass: toText(value) };
}

function toHttpFields(value: unknown, struct: string): WireHttpFields | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" && typeof value !== "function") {
    throw wrongField("httpMetadata", struct, "HttpMetadata or Headers");
  }
  const fields: WireHttpFields = {};
  if (value instanceof Headers) {
    for (const [field, header] of HEADERS) {
      const text = value.get(header);
      if (text !== null) fields[field] = text;
    }
    const expiry = headerDate(value, EXPIRES);
    if (expiry !== undefined) fields.cacheExpiry = expiry;
    return fields;
  }
  const given = value as Record<string, unknown>;
  for (const [field] of HEADERS) {
    const one = given[field];
    if (one !== undefined) fields[field] = toText(one);
  }
  const expiry = dateField(given["cacheExpiry"], "cacheExpiry", "HttpMetadata");
  if (expiry !== undefined) fields.cacheExpiry = expiry;
  return fields;
}

function toCustom(value: unknown, struct: string): Record<string, string> | undefined {
  if (value === undefined) return undefined;
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isRecord) throw wrongField("customMetadata", struct, "object");
  // A null prototype: `__proto__` is a name like any other.
  const custom = Object.create(null) as Record<string, string>;
  for (const [name, one] of Object.entries(value)) custom[name] = toText(one);
  return custom;
}

export function showHttpFields({ cacheExpiry, ...texts }: WireHttpFields): StoreHTTPMetadata {
  return { ...texts, ...(cacheExpiry !== undefined && { cacheExpiry: new Date(cacheExpiry) }) };
}

/** Sets the headers whose field is present. */
export function writeHeaders(metadata: StoreHTTPMetadata, headers: Headers): void {
  try {
    for (const [field, header] of HEADERS) {
      const text = metadata[field];
      if (text !== undefined) headers.set(header, text);
    }
  } catch (cause) {
    throw new TypeError("Invalid header value.", { cause });
  }
  if (metadata.cacheExpiry !== undefined) headers.set(EXPIRES, metadata.cacheExpiry.toUTCString());
}

const NAMES: Readonly<Record<Algorithm, readonly [name: string, octets: number]>> = {
  md5: ["MD5", 16],
  sha1: ["SHA-1", 20],
  sha256: ["SHA-256", 32],
  sha384: ["SHA-384", 48],
  sha512: ["SHA-512", 64],
};

/** The one checksum that was given, in hex. */
export function toChecksum(
  options: Record<string, unknown>,
): { algorithm: Algorithm; hex: string } | undefined {
  let found: { algorithm: Algorithm; hex: string } | undefined;
  for (const algorithm of ALGORITHMS) {
    const value = options[algorithm];
    if (value === undefined) continue;
    if (found !== undefined) throw new TypeError("You cannot specify multiple hashing algorithms.");
    found = { algorithm, hex: checksumHex(algorithm, value) };
  }
  return found;
}

function checksumHex(algorithm: Algorithm, value: unknown): string {
  const [name, octets] = NAMES[algorithm];
  if (typeof value === "string") {
    if (value.length !== octets * 2) {
      throw new TypeError(`${name} is ${octets * 2} hex characters, not ${value.length}`);
    }
    if (!/^[0-9a-f]*$/i.test(value)) {
      throw new TypeError(`Provided ${name} wasn't a valid hex string`);
    }
    return value.toLowerCase();
  }
  const isShared = typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer;
  const given = isShared ? null : octetsOf(value);
  if (given === null) throw wrongField(algorithm, "PutOptions", "BufferSource or string");
  if (given.length !== octets)
    throw new TypeError(`${name} is ${octets} bytes, not ${given.length}`);
  return toHex(given);
}

/** The name that messages have for an algorithm. */
export function algorithmName(algorithm: Algorithm): string {
  return NAMES[algorithm][0];
}
