/** The headers that a request or an answer carries across the edge. RFC 9110 §7.6. */

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
  passOn(raw, OURS, headers);
  joinCookies(headers);
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
  passOn(raw, NONE, headers);
  return headers;
}

const NONE: ReadonlySet<string> = new Set();
const NO_HEADERS: readonly string[] = [];

function passOn(raw: readonly string[], dropped: ReadonlySet<string>, headers: string[]): void {
  const isRequest = dropped === OURS;
  const named = namedByConnection(raw);
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    if (name.startsWith(":")) continue; // HTTP/2 has its request line among them.
    if (isRequest && name.startsWith("cf-")) continue;
    if (HOP_BY_HOP.has(name) || dropped.has(name) || named?.has(name) === true) continue;
    headers.push(raw[i]!, raw[i + 1]!);
  }
}

/** HTTP/2 may have them in crumbs; servers of HTTP/1.1 read one header. RFC 9113 §8.2.3. */
function joinCookies(headers: string[]): void {
  let first = -1;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.length !== 6 || headers[i]!.toLowerCase() !== "cookie") continue;
    if (first === -1) first = i;
    else {
      headers[first + 1] += `; ${headers[i + 1]}`;
      headers.splice(i, 2);
      i -= 2;
    }
  }
}

/** A `Connection` header may name others that end here. */
function namedByConnection(raw: readonly string[]): ReadonlySet<string> | null {
  let names: Set<string> | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length !== 10 || raw[i]!.toLowerCase() !== "connection") continue;
    names ??= new Set();
    for (const name of raw[i + 1]!.split(",")) names.add(name.trim().toLowerCase());
  }
  // Without it there would be no telling where a body ends.
  names?.delete("content-length");
  return names;
}
