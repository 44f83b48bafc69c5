/** Finds out who signed a request. */
import { AccountFault, type OpenS3Key, openSession, type S3Session } from "#accounts";
import { signingKey } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import type { PayloadForm } from "../payload/index.ts";
import { type Caller, callerOf } from "./caller.ts";
import { headerClaim, otherVersion } from "./header-claim.ts";
import { queryClaim, UNSIGNED_PAYLOAD } from "./query-claim.ts";
import type { Claim, SignedRequest } from "./request.ts";
import { verify } from "./verify.ts";

export interface Authenticated {
  /** Null for who has shown no credentials. */
  readonly caller: Caller | null;
  /** How the body comes, and what it is held against. */
  readonly payload: PayloadForm;
}

export interface AuthenticationOptions {
  readonly find: (accessKeyId: string) => Promise<OpenS3Key | null>;
  /** Hears of every request that has proved to hold a key. */
  readonly onUse: (key: OpenS3Key) => void;
  readonly now: () => number;
}

/** What can be derived from a key lives as long as the key that was found: a second, if it is in use. */
interface Derived {
  /** By secret and scope: those of the key itself and of its sessions. */
  readonly signingKeys: Map<string, Buffer>;
  readonly sessions: Map<string, S3Session>;
}

/** Days, regions and sessions that one key shows within a second; past it they are derived anew. */
const MAX_DERIVED = 1_000;

export class Authentication {
  readonly #options: AuthenticationOptions;
  readonly #derived = new WeakMap<OpenS3Key, Derived>();

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  /** Throws an S3Fault when there are credentials, and they prove nothing. */
  async authenticate(request: SignedRequest): Promise<Authenticated> {
    const claim = claimOf(request, this.#options.now());
    const { headers, query } = request;
    if (claim === null) {
      const sha256 = headers["x-amz-content-sha256"] ?? UNSIGNED_PAYLOAD;
      return { caller: null, payload: { sha256, headers, query: [], signing: null } };
    }
    const { accessKeyId, sessionToken, scope, time, signature } = claim;
    const { key, session, signingKey } = await this.open(accessKeyId, sessionToken, claim);
    verify(request, claim, signingKey);
    this.noteUse(key);
    return {
      caller: callerOf(key, session),
      payload: {
        sha256: claim.payloadHash,
        headers,
        query: claim.isPresigned ? query : [],
        signing: { key: signingKey, time, scope, seed: signature },
      },
    };
  }

  now(): number {
    return this.#options.now();
  }

  /** Called when a request has proved to hold the key. */
  noteUse(key: OpenS3Key): void {
    this.#options.onUse(key);
  }

  /** The key of this id, and what signs for it in the scope. Nothing is proved by it yet. */
  async open(
    accessKeyId: string,
    sessionToken: string | null,
    { scope, date, region }: Pick<Claim, "scope" | "date" | "region">,
  ): Promise<{ key: OpenS3Key; session: S3Session | null; signingKey: Buffer }> {
    const key = await this.#options.find(accessKeyId);
    if (key === null) {
      const message =
        "The access key id you provided does not exist here, has expired or was revoked.";
      throw new S3Fault("InvalidAccessKeyId", message, { extra: { AWSAccessKeyId: accessKeyId } });
    }
    const derived = this.#derivedFrom(key);
    const session = sessionToken === null ? null : this.#session(key, sessionToken, derived);
    const { secretAccessKey } = session ?? key;
    const place = `${secretAccessKey} ${scope}`;
    const made = () => signingKey(secretAccessKey, date, region, "s3");
    return { key, session, signingKey: kept(derived.signingKeys, place, made) };
  }

  #derivedFrom(key: OpenS3Key): Derived {
    let derived = this.#derived.get(key);
    if (derived === undefined) {
      this.#derived.set(key, (derived = { signingKeys: new Map(), sessions: new Map() }));
    }
    return derived;
  }

  #session(key: OpenS3Key, token: string, { sessions }: Derived): S3Session {
    const now = this.#options.now();
    try {
      const session = kept(sessions, token, () => openSession(key, token, now));
      if (session.expiresAt > now) return session;
    } catch (error) {
      if (!(error instanceof AccountFault)) throw error;
      const code = error.kind === "expired-session" ? "ExpiredToken" : "InvalidToken";
      throw new S3Fault(code, error.message, { cause: error });
    }
    throw new S3Fault("ExpiredToken");
  }
}

function claimOf(request: SignedRequest, now: number): Claim | null {
  const { authorization } = request.headers;
  if (request.query.length === 0) {
    return authorization === undefined ? null : headerClaim(request, authorization, now);
  }
  const given = new Map<string, string>();
  for (const [name, value] of request.query) given.set(name.toLowerCase(), value);
  const isPresigned = given.has("x-amz-algorithm") || given.has("x-amz-signature");
  const isVersion2 = given.has("awsaccesskeyid") && given.has("signature");
  if (authorization !== undefined) {
    if (!isPresigned && !isVersion2) return headerClaim(request, authorization, now);
    const message = "Only one auth mechanism allowed: the Authorization header or a signed query.";
    const extra = { ArgumentName: "Authorization" };
    throw new S3Fault("InvalidArgument", message, { extra });
  }
  if (isPresigned) return queryClaim(given, request.headers, now);
  if (isVersion2) throw otherVersion("AWS");
  return null;
}

function kept<T>(map: Map<string, T>, key: string, make: () => T): T {
  let value = map.get(key);
  if (value !== undefined) return value;
  if (map.size >= MAX_DERIVED) map.clear();
  map.set(key, (value = make()));
  return value;
}
