/** `httpMetadata` and `customMetadata`: from arguments to the wire, from the wire to results and headers. */
import {
  coercedField,
  dateField,
  type Fields,
  headerDate,
  isObject,
  toText,
  wrongField,
} from "./convert.ts";
import type { WireHttpFields } from "./protocol.ts";
import type { StoreHTTPMetadata } from "./types.ts";

type TextField = Exclude<keyof WireHttpFields, "cacheExpiry">;

/** Each field and its header, in the order of the original. */
const HEADERS: readonly (readonly [TextField, string])[] = [
  ["contentType", "content-type"],
  ["contentLanguage", "content-language"],
  ["contentDisposition", "content-disposition"],
  ["contentEncoding", "content-encoding"],
  ["cacheControl", "cache-control"],
];
const EXPIRES = "expires";

export function readHttpMetadata(value: unknown, struct: string): WireHttpFields | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Headers) return fromHeaders(value);
  if (!isObject(value)) throw wrongField("httpMetadata", struct, "HttpMetadata or Headers");
  return fromObject(value);
}

function fromHeaders(headers: Headers): WireHttpFields {
  const fields: WireHttpFields = {};
  for (const [field, header] of HEADERS) {
    const text = headers.get(header);
    if (text !== null) fields[field] = text;
  }
  const expiry = headerDate(headers, EXPIRES);
  if (expiry !== undefined) fields.cacheExpiry = expiry;
  return fields;
}

function fromObject(given: Fields): WireHttpFields {
  const fields: WireHttpFields = {};
  for (const [field] of HEADERS) {
    const text = coercedField(given[field]);
    if (text !== undefined) fields[field] = text;
  }
  const expiry = dateField(given["cacheExpiry"], "cacheExpiry", "HttpMetadata");
  if (expiry !== undefined) fields.cacheExpiry = expiry;
  return fields;
}

/** The own entries of any object or function; an array is none. */
export function readCustomMetadata(
  value: unknown,
  struct: string,
): Record<string, string> | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value) || Array.isArray(value))
    throw wrongField("customMetadata", struct, "object");
  // A null prototype: `__proto__` is a name like any other.
  const custom = Object.create(null) as Record<string, string>;
  for (const [name, one] of Object.entries(value)) custom[name] = toText(one);
  return custom;
}

/** With every field when scripts of this date see the absent ones, too. */
export function showHttpFields(fields: WireHttpFields, showsAbsent: boolean): StoreHTTPMetadata {
  const shown: Record<string, string | Date | undefined> = {};
  for (const [field] of HEADERS) {
    if (showsAbsent || fields[field] !== undefined) shown[field] = fields[field];
  }
  const { cacheExpiry } = fields;
  if (cacheExpiry !== undefined) shown["cacheExpiry"] = new Date(cacheExpiry);
  else if (showsAbsent) shown["cacheExpiry"] = undefined;
  return shown;
}

/** Sets the headers whose field is present. */
export function writeHeaders(fields: WireHttpFields, headers: Headers): void {
  for (const [field, header] of HEADERS) {
    const text = fields[field];
    if (text !== undefined) headers.set(header, headerValue(text));
  }
  const { cacheExpiry } = fields;
  if (cacheExpiry !== undefined) headers.set(EXPIRES, new Date(cacheExpiry).toUTCString());
}

/** Text beyond Latin-1 stands in a header as its UTF-8 octets, which not every `Headers` makes of it. */
function headerValue(text: string): string {
  if (/[\0\r\n]/.test(text)) throw new TypeError("Invalid header value.");
  if (!/[^\0-\u00FF]/.test(text)) return text;
  return String.fromCharCode(...new TextEncoder().encode(text));
}
