/** Finds out who signed a request. */
import { AccountFault, type OpenS3Key, openSession, type S3Session } from "#accounts";
import { signingKey } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import type { PayloadForm } from "../payload/index.ts";
import { type Caller, callerOf } from "./caller.ts";
import type { CredentialScope } from "./credential-scope.ts";
import { headerClaim, otherVersion } from "./header-claim.ts";
import { queryClaim, readSignature, UNSIGNED_PAYLOAD } from "./query-claim.ts";
import type { Claim, Life, SignedRequest } from "./request.ts";
import { verify } from "./verify.ts";

export interface Authenticated {
  /** Null for who has shown no credentials. */
  readonly caller: Caller | null;
  /** How the body comes, and what it is held against. */
  readonly payload: PayloadForm;
}

type Found = OpenS3Key | null;

export interface AuthenticationOptions {
  /** At once for a key that was found of late. */
  readonly find: (accessKeyId: string) => Found | Promise<Found>;
  /** Hears of every request that has proved to hold a key. */
  readonly onUse: (key: OpenS3Key) => void;
  readonly now: () => number;
}

/** Who signs with a key, or with the session that came from it. */
export interface Signer {
  readonly key: OpenS3Key;
  readonly session: S3Session | null;
  readonly caller: Caller;
  /** By scope. */
  readonly signingKeys: Map<string, Buffer>;
}

/** What is made of a key lives as long as the key that was found: a second, if it is in use. */
interface Signers {
  readonly own: Signer;
  /** By their tokens. */
  readonly sessions: Map<string, Signer>;
}

/** A request that was signed in its URL, and by whom. */
interface Proof {
  readonly authenticated: Authenticated;
  readonly key: OpenS3Key;
  readonly session: S3Session | null;
  readonly claim: Claim;
  readonly life: Life;
}

/** Days, regions and sessions that one key shows within a second; past it they are derived anew. */
const MAX_DERIVED = 1_000;

export class Authentication {
  readonly #options: AuthenticationOptions;
  readonly #signers = new WeakMap<OpenS3Key, Signers>();
  readonly #proofs = new WeakMap<SignedRequest, Proof>();

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  /**
   * Throws an S3Fault when there are credentials, and they prove nothing. At once where the key is at hand. The very same
   * request is not proved again while it holds: a link may be asked for a thousand times a second.
   */
  authenticate(request: SignedRequest): Authenticated | Promise<Authenticated> {
    const known = this.#proofs.get(request);
    const proof = known !== undefined && this.#isAlive(known) ? known : null;
    const claim = proof?.claim ?? claimOf(request, this.#options.now());
    if (claim === null) return { caller: null, payload: unsigned(request) };
    const prove = (key: Found) =>
      proof?.key === key && key !== null ? this.#again(proof) : this.#prove(request, claim, key);
    const found = this.#options.find(claim.credential.accessKeyId);
    return found instanceof Promise ? found.then(prove) : prove(found);
  }

  /** Whether the very same request, if it came again, need not be proved again. */
  mayComeAgain(request: SignedRequest): boolean {
    return this.#proofs.has(request);
  }

  now(): number {
    return this.#options.now();
  }

  /** Called when a request has proved to hold the key. */
  noteUse(key: OpenS3Key): void {
    this.#options.onUse(key);
  }

  /** Who signs with the key of this id, or with its session. Nothing is proved by it yet. */
  async open(accessKeyId: string, sessionToken: string | null): Promise<Signer> {
    return this.#signerOf(await this.#options.find(accessKeyId), accessKeyId, sessionToken);
  }

  #prove(request: SignedRequest, claim: Claim, key: Found): Authenticated {
    const { credential, time, sessionToken, payloadHash, signature, hoisted } = claim;
    const signer = this.#signerOf(key, credential.accessKeyId, sessionToken);
    const signs = signingKeyOf(signer, credential);
    verify(request, claim, signs);
    this.noteUse(signer.key);
    const authenticated = {
      caller: signer.caller,
      payload: {
        sha256: payloadHash,
        headers: request.headers,
        hoisted,
        signing: { key: signs, time, scope: credential.scope, seed: signature },
      },
    };
    const { life } = claim;
    if (life !== null) {
      const { key: proved, session } = signer;
      this.#proofs.set(request, { authenticated, key: proved, session, claim, life });
    }
    return authenticated;
  }

  #again({ key, authenticated }: Proof): Authenticated {
    this.noteUse(key);
    return authenticated;
  }

  /** Whether its time, which is all that changes by itself, is not over. */
  #isAlive({ session, life }: Proof): boolean {
    const now = this.#options.now();
    return now >= life.from && now < Math.min(life.until, session?.expiresAt ?? Infinity);
  }

  #signerOf(key: Found, accessKeyId: string, sessionToken: string | null): Signer {
    if (key === null) {
      const message =
        "The access key id you provided does not exist here, has expired or was revoked.";
      throw new S3Fault("InvalidAccessKeyId", message, { extra: { AWSAccessKeyId: accessKeyId } });
    }
    let signers = this.#signers.get(key);
    if (signers === undefined) {
      this.#signers.set(key, (signers = { own: signerOf(key, null), sessions: new Map() }));
    }
    return sessionToken === null ? signers.own : this.#session(key, sessionToken, signers);
  }

  #session(key: OpenS3Key, token: string, { sessions }: Signers): Signer {
    const now = this.#options.now();
    try {
      const signer = kept(sessions, token, () => signerOf(key, openSession(key, token, now)));
      if (signer.session!.expiresAt > now) return signer;
    } catch (error) {
      if (!(error instanceof AccountFault)) throw error;
      const code = error.kind === "expired-session" ? "ExpiredToken" : "InvalidToken";
      throw new S3Fault(code, error.message, { cause: error });
    }
    throw new S3Fault("ExpiredToken");
  }
}

function unsigned({ headers }: SignedRequest): PayloadForm {
  const sha256 = headers["x-amz-content-sha256"] ?? UNSIGNED_PAYLOAD;
  return { sha256, headers, hoisted: [], signing: null };
}

function signerOf(key: OpenS3Key, session: S3Session | null): Signer {
  return { key, session, caller: callerOf(key, session), signingKeys: new Map() };
}

/** What signs in the scope. */
export function signingKeyOf(
  { key, session, signingKeys }: Signer,
  { scope, date, region }: CredentialScope,
): Buffer {
  const { secretAccessKey } = session ?? key;
  return kept(signingKeys, scope, () => signingKey(secretAccessKey, date, region, "s3"));
}

function claimOf(request: SignedRequest, now: number): Claim | null {
  const { authorization } = request.headers;
  if (request.query.length === 0) {
    return authorization === undefined ? null : headerClaim(request, authorization, now);
  }
  const given = readSignature(request.query);
  const isPresigned = given.algorithm !== undefined || given.signature !== undefined;
  const isVersion2 = given.olderKey !== undefined && given.olderSignature !== undefined;
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
