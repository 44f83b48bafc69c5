/** Validators: asked of the origin for a stored response, and by clients. RFC 9110 §8.8, §13; RFC 9111 §4.3. */
import {
  fieldOf,
  type RawHeaders,
  type RequestHeaders,
  requestField,
  withoutFields,
} from "./headers.ts";
import { parseHttpDate } from "./http-date.ts";

/** What the origin is asked with; empty when the response has no validator. RFC 9111 §4.3.1. */
export function originConditions(headers: RawHeaders): readonly string[] {
  const etag = fieldOf(headers, "etag");
  const changed = fieldOf(headers, "last-modified");
  return [
    ...(etag === null ? [] : ["If-None-Match", etag]),
    ...(changed === null ? [] : ["If-Modified-Since", changed]),
  ];
}

/** Whether a 304 speaks of the stored response: a tag that it carries must be the same. RFC 9111 §4.3.4. */
export function confirms(stored: RawHeaders, notModified: RawHeaders): boolean {
  const tag = fieldOf(notModified, "etag");
  const own = fieldOf(stored, "etag");
  return tag === null || own === null || opaque(tag) === opaque(own);
}

/** They describe the octets that are kept, which a 304 does not carry. RFC 9111 §3.2. */
const OF_CONTENT: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-length",
  "content-range",
]);

/** The stored head with what a 304 says anew. RFC 9111 §3.2. */
export function updatedHeaders(stored: RawHeaders, notModified: RawHeaders): string[] {
  const news = withoutFields(notModified, OF_CONTENT);
  const replaced = new Set(news.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()));
  return [...withoutFields(stored, replaced), ...news];
}

/**
 * Whether the client has the response already. `If-Match` and `If-Unmodified-Since` are for origins.
 * RFC 9111 §4.3.2; RFC 9110 §13.1.2, §13.1.3.
 */
export function clientHasIt(
  headers: RawHeaders,
  request: RequestHeaders,
  receivedAt: number,
): boolean {
  const tags = requestField(request, "if-none-match");
  if (tags !== undefined) return isAmong(fieldOf(headers, "etag"), tags);
  const since = requestField(request, "if-modified-since");
  const known = since === undefined ? null : parseHttpDate(since, receivedAt);
  if (known === null) return false;
  const changed = changedAt(headers, "last-modified", receivedAt);
  return (changed ?? changedAt(headers, "date", receivedAt) ?? receivedAt) <= known;
}

function isAmong(etag: string | null, tags: string): boolean {
  if (tags.trim() === "*") return true;
  if (etag === null) return false;
  return [...tags.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, tag]) => tag === opaque(etag));
}

/** The weak comparison is one without the prefix. RFC 9110 §8.8.3.2. */
function opaque(etag: string): string {
  return etag.startsWith("W/") ? etag.slice(2) : etag;
}

/** Whether a part may be sent: an `If-Range` must name the stored response exactly. RFC 9110 §13.1.5. */
export function allowsRange(
  headers: RawHeaders,
  request: RequestHeaders,
  receivedAt: number,
): boolean {
  const condition = requestField(request, "if-range");
  if (condition === undefined) return true;
  if (condition.startsWith('"')) return fieldOf(headers, "etag") === condition;
  // A date is strong only when the response was made well after it. RFC 9110 §8.8.2.2.
  const changed = changedAt(headers, "last-modified", receivedAt);
  const date = changedAt(headers, "date", receivedAt);
  const isStrong = changed !== null && date !== null && date - changed >= 1000;
  return isStrong && parseHttpDate(condition, receivedAt) === changed;
}

function changedAt(headers: RawHeaders, name: string, now: number): number | null {
  return parseHttpDate(fieldOf(headers, name) ?? "", now);
}

/** The fields of a stored head that a 304 to a client repeats. RFC 9110 §15.4.5. */
const NOT_IN_304: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-language",
  "content-length",
  "content-range",
  "content-type",
]);

export function notModifiedHeaders(headers: RawHeaders): string[] {
  return withoutFields(headers, NOT_IN_304);
}
