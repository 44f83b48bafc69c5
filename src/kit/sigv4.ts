/**
 * AWS Signature Version 4 in the Authorization header, as S3 takes it: paths are escaped once, and the
 * hash of the payload travels in a header of its own.
 */
import { createHash, createHmac } from "node:crypto";

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

export const EMPTY_PAYLOAD_HASH = createHash("sha256").digest("hex");

const ALGORITHM = "AWS4-HMAC-SHA256";

/** The headers to send: those given, those that signing adds, and the signature. */
export function signRequest(request: UnsignedRequest, signing: Signing): Record<string, string> {
  const { key, region, service, now } = signing;
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const date = time.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": request.payloadHash,
    "x-amz-date": time,
    ...(key.sessionToken === undefined ? {} : { "x-amz-security-token": key.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    request.method,
    request.path,
    escapeQuery(request.query),
    ...names.map((name) => `${name}:${headers[name]!.trim().replaceAll(/ +/g, " ")}`),
    "",
    names.join(";"),
    request.payloadHash,
  ].join("\n");
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = [ALGORITHM, time, scope, sha256(canonical)].join("\n");
  const signature = hmac(signingKey(key.secret, date, region, service), toSign).toString("hex");
  headers["authorization"] =
    `${ALGORITHM} Credential=${key.id}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return headers;
}

/** Escapes a path, but for its slashes. */
export function escapePath(path: string): string {
  return path.split("/").map(escape).join("/");
}

/** Sorted by name, as it is signed; it may be sent like this. */
export function escapeQuery(query: Readonly<Record<string, string>>): string {
  const escaped = new Map(Object.entries(query).map(([name, value]) => [escape(name), value]));
  // Not the pairs: "=" sorts after "-", so "a-b=" would come before "a=".
  return [...escaped.keys()]
    .sort()
    .map((name) => `${name}=${escape(escaped.get(name)!)}`)
    .join("&");
}

/** All but letters, digits and `-._~`; encodeURIComponent leaves five more as they are. */
function escape(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function signingKey(secret: string, date: string, region: string, service: string): Buffer {
  return [date, region, service, "aws4_request"].reduce(hmac, Buffer.from(`AWS4${secret}`));
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
