/**
 * Temporary credentials for S3: a token signed with the secret of a key says what part of that key's grant they
 * carry, and until when. Nothing is stored, so whoever holds a key can make them without asking us. JSON Web
 * Token, RFC 7519, with HS256; the claims are those of the original.
 */
import { createHmac } from "node:crypto";
import { sameDigest, sha256 } from "#kit/secrets.ts";
import { AccountFault } from "./fault.ts";
import {
  type BucketGrant,
  checkGrant,
  exceeds,
  type S3Grant,
  type S3Permission,
} from "./s3-grants.ts";
import type { OpenS3Key, S3KeyPair } from "./s3-keys.ts";

export interface TemporaryInput {
  readonly bucket: string;
  readonly permission: S3Permission;
  readonly prefixes: readonly string[];
  readonly objects: readonly string[];
  readonly ttlSeconds: number;
}

export type TemporaryCredentials = S3KeyPair & { readonly sessionToken: string };

/** What a session token opens, within what its parent does. */
export interface S3Session extends S3Grant {
  readonly secretAccessKey: string;
  readonly expiresAt: number;
}

/** As long as a presigned URL may live. */
export const MAX_SESSION_SECONDS = 7 * 24 * 60 * 60;

const MARK = "jwt/";
const HEADER = encode({ alg: "HS256", typ: "JWT" });

/** The original's words for the permissions. */
const scopes = {
  "read-only": "object-read-only",
  "read-write": "object-read-write",
  "admin-read-only": "admin-read-only",
  admin: "admin-read-write",
} as const satisfies Record<S3Permission, string>;

export const permissionOfScope: ReadonlyMap<unknown, S3Permission> = new Map(
  Object.entries(scopes).map(([permission, scope]) => [scope, permission as S3Permission]),
);

/** Throws when the key could not give what is asked for. */
export function mintTemporary(
  parent: OpenS3Key,
  { bucket, permission, prefixes, objects, ttlSeconds }: TemporaryInput,
  now: number,
): TemporaryCredentials {
  checkGrant({ permission, buckets: [{ bucket, prefixes, objects }] });
  const isOutside = parent.buckets !== null && !parent.buckets.some((one) => one.bucket === bucket);
  if (isOutside || exceeds(permission, parent.permission)) {
    const message = `The key ${parent.accessKeyId} does not open so much itself`;
    throw new AccountFault("bad-key", message, { pointer: isOutside ? "/bucket" : "/permission" });
  }
  const issuedAt = Math.floor(now / 1_000);
  const claims = {
    bucket,
    scope: scopes[permission],
    paths: { prefixPaths: prefixes, objectPaths: objects },
    sub: parent.accountId,
    iss: parent.accessKeyId,
    iat: issuedAt,
    exp: issuedAt + ttlSeconds,
  };
  const signed = `${HEADER}.${encode(claims)}`;
  const token = `${signed}.${signatureOf(parent, signed)}`;
  return {
    accessKeyId: parent.accessKeyId,
    secretAccessKey: sha256(token),
    sessionToken: Buffer.from(MARK + token).toString("base64"),
  };
}

/** Throws unless the token was signed with the key's secret, has not expired and can be understood. */
export function openSession(parent: OpenS3Key, sessionToken: string, now: number): S3Session {
  const text = Buffer.from(sessionToken, "base64").toString("latin1");
  const [header = "", payload = "", signature = "", ...rest] = text.slice(MARK.length).split(".");
  if (!text.startsWith(MARK) || rest.length > 0) throw bad("It is not a token of this kind");
  if (!sameDigest(signature, signatureOf(parent, `${header}.${payload}`))) {
    throw bad("It was not signed with the secret of this access key");
  }
  if (decode(header)["alg"] !== "HS256") throw bad("It must be signed by HS256");
  const claims = decode(payload);
  const expiresAt = expiryOf(claims, now);
  const isForeign =
    (claims["iss"] ?? parent.accessKeyId) !== parent.accessKeyId ||
    (claims["sub"] ?? parent.accountId) !== parent.accountId;
  // The audience is not looked at: behind a proxy the host that a client knows is not the one that we do.
  if (isForeign) throw bad("It was made for another access key or account");
  return { ...grantOf(claims), secretAccessKey: sha256(text.slice(MARK.length)), expiresAt };
}

type Claims = Readonly<Record<string, unknown>>;

function expiryOf({ exp }: Claims, now: number): number {
  if (typeof exp !== "number") throw bad("It does not say when it expires");
  if (exp * 1_000 <= now)
    throw new AccountFault("expired-session", "The provided token has expired.");
  if (exp * 1_000 > now + MAX_SESSION_SECONDS * 1_000) {
    throw bad(`It may not live longer than ${MAX_SESSION_SECONDS} seconds`);
  }
  return exp * 1_000;
}

function grantOf({ bucket, scope, actions, paths }: Claims): S3Grant {
  if (typeof bucket !== "string") throw bad("It names no bucket");
  if (scope === undefined && actions === undefined) throw bad("It has no scope and no actions");
  // With a list of operations alone these are all that there is; none of them changes a bucket's settings.
  const permission = scope === undefined ? "read-write" : permissionOfScope.get(scope);
  if (permission === undefined) throw bad("Its scope is not known");
  // Read as if they were not there, they would open the whole bucket.
  if (typeof (paths ?? {}) !== "object" || Array.isArray(paths)) throw bad("Its paths are none");
  const { prefixPaths, objectPaths } = (paths ?? {}) as Claims;
  const grant: BucketGrant = {
    bucket,
    prefixes: texts(prefixPaths, "paths"),
    objects: texts(objectPaths, "paths"),
  };
  const operations = actions === undefined ? null : new Set(texts(actions, "actions").map(nameIn));
  return { permission, buckets: [grant], operations };
}

/** The original has another name for one of S3's operations. */
function nameIn(action: string): string {
  return action === "ListObjectsV1" ? "ListObjects" : action;
}

function texts(value: unknown, name: string): readonly string[] {
  if (value === undefined || value === null) return [];
  const isTexts = Array.isArray(value) && value.every((one) => typeof one === "string");
  if (isTexts) return value;
  throw bad(`Its ${name} must be lists of texts`);
}

function encode(claims: object): string {
  return Buffer.from(JSON.stringify(claims)).toString("base64url");
}

function decode(part: string): Claims {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    if (typeof value === "object" && value !== null) return value as Claims;
  } catch {
    // Said below.
  }
  throw bad("It cannot be read");
}

function signatureOf({ secretAccessKey }: OpenS3Key, signed: string): string {
  return createHmac("sha256", secretAccessKey).update(signed).digest("base64url");
}

function bad(why: string): AccountFault {
  return new AccountFault("bad-session", `The provided session token is not valid. ${why}.`);
}
