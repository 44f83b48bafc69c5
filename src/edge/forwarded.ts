/** The headers that a request or an answer carries across the edge. RFC 9110 §7.6. */
import { remember } from "#kit/remember.ts";

/** They belong to one connection and end with it. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "expect", // Answered here, when the request came.
  "http2-settings", // RFC 7540 §3.2.1; HTTP/2 itself refuses to carry it.
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "proxy-authenticate",
  "proxy-authorization",
]);

/** What the edge itself tells of the client; a client's own words for it are dropped, with all that begins `cf-`. */
const OURS: ReadonlySet<string> = new Set([
  "cdn-loop",
  "forwarded",
  "host", // First of all, once, as it was understood.
  "true-client-ip",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "x-request-id",
  "x-selvedge-cf",
]);

export interface ClientFacts {
  /** The address that the request came from, behind trusted proxies. */
  readonly address: string;
  /** The other end of the connection: the client, or the last trusted proxy. */
  readonly peer: string;
  /** The `X-Forwarded-For` that the peer sent, when it is trusted. */
  readonly forwardedFor: string | null;
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly requestId: string;
}

/** `raw` is Node's list: name, value, name, value. Names keep their spelling and order. */
export function requestHeaders(
  raw: readonly string[],
  client: ClientFacts,
  upgrade: string | null,
): string[] {
  const { address, peer, forwardedFor, scheme, host, requestId } = client;
  const headers = ["Host", host];
  passOn(raw, true, headers);
  headers.push(
    "X-Forwarded-For",
    forwardedFor === null ? peer : `${forwardedFor}, ${peer}`,
    "X-Forwarded-Proto",
    scheme,
    "X-Forwarded-Host",
    host,
    "X-Real-IP",
    address,
    // Scripts and origins written for the original read these.
    "CF-Connecting-IP",
    address,
    "CF-Visitor",
    `{"scheme":"${scheme}"}`,
    "CF-Ray",
    requestId,
    "X-Request-Id",
    requestId,
  );
  if (upgrade !== null) headers.push("Connection", "Upgrade", "Upgrade", upgrade);
  return headers;
}

export function responseHeaders(
  raw: readonly string[],
  requestId: string,
  also: readonly string[] = NO_HEADERS,
): string[] {
  const headers = endToEnd(raw);
  for (const text of also) headers.push(text);
  headers.push("X-Request-Id", requestId);
  return headers;
}

/** An answer's headers without those of the connection that it came on. */
export function endToEnd(raw: readonly string[]): string[] {
  const headers: string[] = [];
  passOn(raw, false, headers);
  return headers;
}

const NO_HEADERS: readonly string[] = [];

/** How far a header goes. */
const EVERYWHERE = 0;
/** With answers; in requests the edge has its own. */
const WITH_ANSWERS = 1;
const COOKIE = 2;
const CONNECTION = 3;
const NOWHERE = 4;

/** By its name as it is spelled. */
const reachOf = remember((spelled): number => {
  const name = spelled.toLowerCase();
  if (name === "connection") return CONNECTION;
  if (HOP_BY_HOP.has(name)) return NOWHERE;
  if (name.startsWith(":")) return NOWHERE; // HTTP/2 has its request line among them.
  if (name === "cookie") return COOKIE;
  return OURS.has(name) || name.startsWith("cf-") ? WITH_ANSWERS : EVERYWHERE;
});

function passOn(raw: readonly string[], isRequest: boolean, headers: string[]): void {
  const before = headers.length;
  let cookie = -1;
  let named: Set<string> | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const reach = reachOf(raw[i]!);
    if (reach === EVERYWHERE || (!isRequest && reach <= COOKIE)) headers.push(raw[i]!, raw[i + 1]!);
    else if (reach === CONNECTION) named = union(named, namedBy(raw[i + 1]!));
    else if (reach === COOKIE) {
      // HTTP/2 may have them in crumbs; servers of HTTP/1.1 read one header. RFC 9113 §8.2.3.
      if (cookie === -1) cookie = headers.push(raw[i]!, raw[i + 1]!) - 1;
      else headers[cookie] += `; ${raw[i + 1]}`;
    }
  }
  if (named !== null) leaveOut(named, headers, before);
}

/** A `Connection` header may name others that end here. Empty where it names none that would go on. */
const namedBy = remember((value): readonly string[] =>
  value
    .split(",")
    .map((name) => name.trim().toLowerCase())
    // Without a length there would be no telling where a body ends.
    .filter((name) => !HOP_BY_HOP.has(name) && name !== "content-length"),
);

function union(some: Set<string> | null, others: readonly string[]): Set<string> | null {
  return others.length === 0 ? some : new Set([...(some ?? []), ...others]);
}

/** Takes those of these names out of a list, from one place on. */
function leaveOut(names: ReadonlySet<string>, headers: string[], from: number): void {
  let end = from;
  for (let i = from; i < headers.length; i += 2) {
    if (names.has(headers[i]!.toLowerCase())) continue;
    headers[end++] = headers[i]!;
    headers[end++] = headers[i + 1]!;
  }
  headers.length = end;
}
