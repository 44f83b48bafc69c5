/**
 * AWS Signature Version 4 as S3 takes it: paths are escaped once, and the hash of the payload travels in a
 * header of its own. The one who signs and the one who checks build the same texts.
 */
import { createHmac, hash } from "node:crypto";
import { remember } from "./remember.ts";

export interface AccessKey {
  readonly id: string;
  readonly secret: string;
  /** Of temporary keys. */
  readonly sessionToken?: string;
}

export interface UnsignedRequest {
  readonly method: string;
  /** As it is sent: see `escapePath`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case; `host` must be there. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body in hex, or one of the words that stand for it. */
  readonly payloadHash: string;
}

export interface Signing {
  readonly key: AccessKey;
  readonly region: string;
  readonly service: string;
  readonly now: number;
}

export const ALGORITHM = "AWS4-HMAC-SHA256";
export const EMPTY_PAYLOAD_HASH = hash("sha256", "", "hex");

/** The headers to send: those given, those that signing adds, and the signature. */
export function signRequest(request: UnsignedRequest, signing: Signing): Record<string, string> {
  const { key, region, service, now } = signing;
  const time = basicTime(now);
  const date = time.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": request.payloadHash,
    "x-amz-date": time,
    ...(key.sessionToken === undefined ? {} : { "x-amz-security-token": key.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const canonical = canonicalRequest({
    method: request.method,
    path: request.path,
    query: escapeQuery(request.query),
    headers: names.map((name) => [name, headers[name]!]),
    payloadHash: request.payloadHash,
  });
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = stringToSign(time, scope, canonical);
  const signature = sign(signingKey(key.secret, date, region, service), toSign);
  headers["authorization"] =
    `${ALGORITHM} Credential=${key.id}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return headers;
}

/** As in `x-amz-date`: 20130524T000000Z. */
export function basicTime(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
}

export interface CanonicalParts {
  readonly method: string;
  readonly path: string;
  /** Escaped and sorted. */
  readonly query: string;
  /** Those that are signed, sorted by name. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly payloadHash: string;
}

export function canonicalRequest(parts: CanonicalParts): string {
  const { method, path, query, headers, payloadHash } = parts;
  let lines = "";
  let names = "";
  for (const [name, value] of headers) {
    const text = value.trim();
    lines += `${name}:${text.includes("  ") ? text.replaceAll(/ +/g, " ") : text}\n`;
    names += names === "" ? name : `;${name}`;
  }
  return `${method}\n${path}\n${query}\n${lines}\n${names}\n${payloadHash}`;
}

/** Of a text the octets are those of UTF-8. */
export function stringToSign(time: string, scope: string, canonical: string | Uint8Array): string {
  return `${ALGORITHM}\n${time}\n${scope}\n${hash("sha256", canonical, "hex")}`;
}

/** Good for a day, a region and a service. */
export function signingKey(secret: string, date: string, region: string, service: string): Buffer {
  return [date, region, service, "aws4_request"].reduce(hmac, Buffer.from(`AWS4${secret}`));
}

/** HMAC of RFC 2104, by two hashes at once: the objects that Node makes for one cost more than the hashing. */
export function sign(key: Buffer, text: string): string {
  const length = BLOCK_BYTES + Buffer.byteLength(text);
  if (key.length > BLOCK_BYTES || length > inner.length) {
    return createHmac("sha256", key).update(text).digest("hex");
  }
  for (let i = 0; i < BLOCK_BYTES; i++) {
    const octet = key[i] ?? 0;
    inner[i] = octet ^ 0x36;
    outer[i] = octet ^ 0x5c;
  }
  inner.write(text, BLOCK_BYTES);
  outer.write(hash("sha256", inner.subarray(0, length), "latin1"), BLOCK_BYTES, "latin1");
  const signature = hash("sha256", outer, "hex");
  inner.fill(0);
  outer.fill(0);
  return signature;
}

/** Of SHA-256, whose digests have half as much. */
const BLOCK_BYTES = 64;
/** More than any text that is signed here. */
const inner = Buffer.alloc(1024);
const outer = Buffer.alloc(BLOCK_BYTES + 32);

/** Escapes a path, but for its slashes. */
export function escapePath(path: string): string {
  return PLAIN_PATH.test(path) ? path : path.split("/").map(escape).join("/");
}

/** Sorted by name, as it is signed; it may be sent like this. */
export function escapeQuery(query: Readonly<Record<string, string>>): string {
  return escapePairs(Object.entries(query));
}

type Pair = readonly [name: string, value: string];

/** The same where a name may stand more than once. */
export function escapePairs(pairs: readonly Pair[]): string {
  let query = "";
  let last = "";
  for (const [name, value] of pairs) {
    const escaped = escapeName(name);
    if (query !== "" && escaped <= last) return escapeSorted(pairs);
    query += `${query === "" ? "" : "&"}${escaped}=${escape(value)}`;
    last = escaped;
  }
  return query;
}

function escapeSorted(pairs: readonly Pair[]): string {
  // Not sorted as a whole: "=" comes after "-", so that "a-b=" would stand before "a=".
  const sorted = pairs.map(([name, value]) => ({ name: escape(name), value: escape(value) }));
  sorted.sort((a, b) => (a.name === b.name ? order(a.value, b.value) : order(a.name, b.name)));
  return sorted.map(({ name, value }) => `${name}=${value}`).join("&");
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const PLAIN = /^[\w.~-]*$/;
const PLAIN_PATH = /^[\w./~-]*$/;

/** All but letters, digits and `-._~`. */
function escape(text: string): string {
  return PLAIN.test(text) ? text : escapeOthers(text);
}

/** Remembered: the names are few. */
const escapeName = remember(escape);

/** Remembered: each request of a client has the same credential. */
const escapeOthers = remember((text): string =>
  // encodeURIComponent leaves five more as they are.
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  ),
);

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
