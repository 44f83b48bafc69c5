/**
 * Trailers across the edge, in either direction. What decides how a message is read, routed or allowed must stand
 * before its body; a trailer that says so is dropped. RFC 9110 §6.5.
 */
import type { IncomingMessage } from "node:http";
import type { ResponseHead } from "#http";

/** RFC 9110 §6.5.1, and what the edge itself says of a client. */
const NOT_BEHIND: ReadonlySet<string> = new Set(
  [
    "connection content-length http2-settings keep-alive proxy-connection te trailer transfer-encoding upgrade",
    "cdn-loop forwarded host true-client-ip via x-real-ip x-request-id x-selvedge-cf",
    "cache-control cdn-cache-control expect max-forwards pragma range",
    "authorization cookie proxy-authenticate proxy-authorization set-cookie www-authenticate",
    "age date expires location retry-after vary warning",
    "content-encoding content-range content-type",
  ].flatMap((kind) => kind.split(" ")),
);
const NOT_BEHIND_FROM = /^(?:cf|if|x-forwarded)-/;

/** All that a request's trailers may say, as for answers. */
const MAX_OCTETS = 8 * 1024;

function mayTrail(name: string): boolean {
  const known = name.toLowerCase();
  return !NOT_BEHIND.has(known) && !NOT_BEHIND_FROM.test(known);
}

/** Of name, value, name, value: those that may come last. */
export function trailersIn(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    if (mayTrail(raw[i]!)) kept.push(raw[i]!, raw[i + 1]!);
  }
  return kept;
}

/** What ends a body in chunks. RFC 9112 §7.1.2. What nobody has room for is dropped, as trailers may be. */
export function lastChunk({ rawTrailers }: IncomingMessage): string {
  let text = "0\r\n";
  const kept = trailersIn(rawTrailers);
  for (let i = 0; i < kept.length; i += 2) text += `${kept[i]}: ${kept[i + 1]}\r\n`;
  return text.length > MAX_OCTETS ? "0\r\n\r\n" : `${text}\r\n`;
}

/** What a request's head says of trailers to whoever knows them. */
export function trailerLines(request: IncomingMessage, isChunked: boolean): string {
  const { trailer, upgrade } = request.headers;
  const names = isChunked && trailer !== undefined ? announced(trailer) : "";
  const announces = names === "" ? "" : `Trailer: ${names}\r\n`;
  // Beside an upgrade `Connection` is taken.
  const asks = upgrade === undefined && asksForTrailers(request);
  return asks ? `${announces}Connection: TE\r\nTE: trailers\r\n` : announces;
}

/** Whether a client reads trailers. In HTTP/2 they are a part of each message; in HTTP/1.1 it must say so. */
export function takesTrailers(request: IncomingMessage): boolean {
  if (request.httpVersionMajor === 2) return true;
  return request.httpVersion === "1.1" && asksForTrailers(request);
}

/** RFC 9110 §10.1.4. */
function asksForTrailers({ headers: { te } }: IncomingMessage): boolean {
  return te !== undefined && /(?:^|,)\s*trailers\s*(?:,|$)/i.test(String(te));
}

/** The `Trailer` field of an answer, where trailers can follow and its client reads them; else nothing. */
export function trailerField(
  request: IncomingMessage,
  { status, length, headers }: ResponseHead,
): readonly string[] {
  const hasBody = request.method !== "HEAD" && status !== 204 && status !== 304;
  if (length !== null || !hasBody || !takesTrailers(request)) return [];
  const said = headers.filter((_, i) => i % 2 === 1 && headers[i - 1]!.toLowerCase() === "trailer");
  const names = announced(said.join());
  return names === "" ? [] : ["Trailer", names];
}

/** The names that a `Trailer` field has of those that will come. */
function announced(names: string): string {
  const trimmed = names.split(",").map((name) => name.trim());
  return trimmed.filter((name) => name !== "" && mayTrail(name)).join(", ");
}

/** As Node takes fields: by name, those that are said more than once together. */
export function byName(fields: readonly string[]): Record<string, string | string[]> {
  const all: Record<string, string | string[]> = Object.create(null) as Record<string, string>;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!.toLowerCase();
    const before = all[name];
    all[name] = before === undefined ? fields[i + 1]! : [before, fields[i + 1]!].flat();
  }
  return all;
}
