/** Finds out who is asking, from the credentials a door was shown. */
import type { Database, RowOf } from "#db";
import { ranges, source } from "#kit/cidr.ts";
import { sameDigest, sha256 } from "#kit/secrets.ts";
import type { WindowLimit } from "#kit/window-limit.ts";
import { AccountFault, type AccountFaultKind } from "./fault.ts";
import type { Identity } from "./identity.ts";
import type { Recent } from "./recent.ts";
import * as rows from "./schema.ts";
import { tokenStatus } from "./tokens.ts";
import { UseNotes } from "./use-notes.ts";

export type Credentials =
  | { readonly kind: "token"; readonly value: string }
  | { readonly kind: "key"; readonly email: string; readonly key: string };

type TokenRow = RowOf<typeof rows.tokenByHash>;

export interface FoundToken {
  readonly id: string;
  readonly owner: rows.TokenOwner;
  readonly status: rows.TokenStatus | "expired";
  readonly notBefore: number | null;
  readonly expiresOn: number | null;
}

/** Any value of this form could be a token; an account key, put there by mistake, is shorter. */
const TOKEN_FORM = /^[A-Za-z0-9_-]{40,256}$/;
const KEY_FORM = /^(?:[0-9a-f]{37}|[A-Za-z0-9_-]{32,256})$/;
const EMAIL_FORM = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

/** Compared with when the user is unknown, so that the comparison is made either way. */
const NO_HASH = sha256("");

/** Faults that count as a failed attempt to get in. */
const FAILED_ATTEMPTS: ReadonlySet<AccountFaultKind> = new Set([
  "malformed-email",
  "malformed-key",
  "malformed-token",
  "unknown-key",
  "unknown-token",
  "wrong-place",
]);

export interface AuthenticatorOptions {
  readonly db: Database;
  readonly recent: Recent;
  readonly now: () => number;
  /** Failed attempts per source address; null switches the limit off. */
  readonly failures: WindowLimit | null;
  /** Hears when a time of last use could not be kept; no request fails of it. */
  readonly onLostNote: (error: unknown) => void;
}

export class Authenticator implements AsyncDisposable {
  readonly #options: AuthenticatorOptions;
  readonly #uses: UseNotes;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#uses = new UseNotes({
      write: (id, at) => options.db.write(rows.setTokenUsed({ id, at })),
      onLost: options.onLostNote,
    });
  }

  /** Who shows these credentials from this address. */
  async authenticate(credentials: Credentials, address: string): Promise<Identity> {
    this.#refuseAfterFailures(address);
    try {
      const identity =
        credentials.kind === "key"
          ? await this.#userWithKey(credentials.email, credentials.key)
          : this.#inUse(await this.#tokenRow(credentials.value), address);
      this.#refuseAfterFailures(address); // Others may have failed while this one was looked up.
      return identity;
    } catch (error) {
      throw this.#counted(error, address);
    }
  }

  /** The token with this value, whatever its state and wherever it is used from. */
  async verifyToken(value: string, address: string): Promise<FoundToken> {
    this.#refuseAfterFailures(address);
    try {
      const token = await this.#tokenRow(value);
      const { id, notBefore, expiresOn } = token;
      return {
        id,
        owner: ownerOf(token),
        status: tokenStatus(token, this.#options.now()),
        notBefore,
        expiresOn,
      };
    } catch (error) {
      throw this.#counted(error, address);
    }
  }

  /** Waits for the notes of last use that are under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#uses[Symbol.asyncDispose]();
  }

  #refuseAfterFailures(address: string): void {
    const { failures, now } = this.#options;
    if (failures === null || failures.isEmpty) return;
    const { exceeded, resetSeconds } = failures.peek(source(address), now());
    if (!exceeded) return;
    throw tooManyFailures(resetSeconds);
  }

  /** Counts a failed attempt to get in. Past the quota nobody learns what was wrong. */
  #counted(error: unknown, address: string): unknown {
    const { failures, now } = this.#options;
    const isAttempt = error instanceof AccountFault && FAILED_ATTEMPTS.has(error.kind);
    if (failures === null || !isAttempt) return error;
    const { exceeded, resetSeconds } = failures.count(source(address), now());
    return exceeded ? tooManyFailures(resetSeconds) : error;
  }

  async #userWithKey(email: string, key: string): Promise<Identity> {
    const { db, recent } = this.#options;
    const find = rows.userByEmail({ email: email.toLowerCase() });
    const user = await recent.get(`user ${email}`, () => db.first(find));
    const matches = sameDigest(sha256(key), user?.keyHash ?? NO_HASH);
    if (user !== null && matches) return { kind: "user", id: user.id, userId: user.id };
    // The form matters only to say what is wrong: a key chosen by the operator may have any.
    if (!EMAIL_FORM.test(email)) throw new AccountFault("malformed-email", "Not an e-mail address");
    if (!KEY_FORM.test(key)) throw new AccountFault("malformed-key", "Not an API key");
    throw new AccountFault("unknown-key", "No user has this e-mail and key");
  }

  #inUse(token: TokenRow, address: string): Identity {
    const now = this.#options.now();
    if (
      tokenStatus(token, now) !== "active" ||
      (token.notBefore !== null && token.notBefore > now)
    ) {
      throw new AccountFault("unknown-token", "The token is not active");
    }
    const { in: inside, notIn } = token.condition;
    const outside = inside.length > 0 && !ranges(inside).has(address);
    if (outside || (notIn.length > 0 && ranges(notIn).has(address))) {
      throw new AccountFault(
        "wrong-place",
        `Cannot use the access token from location: ${address}`,
      );
    }
    this.#uses.note(token.id, token.lastUsedOn, now);
    return { kind: "token", id: token.id, owner: ownerOf(token), policies: token.policies };
  }

  async #tokenRow(value: string): Promise<TokenRow> {
    // Looked up by its digest, so that no time taken tells how near a guess was.
    const hash = sha256(value);
    const { db, recent } = this.#options;
    const token = await recent.get(hash, () => db.first(rows.tokenByHash({ hash })));
    if (token !== null) return token;
    if (!TOKEN_FORM.test(value)) throw new AccountFault("malformed-token", "Not an API token");
    throw new AccountFault("unknown-token", "No token has this value");
  }
}

function tooManyFailures(retryAfterSeconds: number): AccountFault {
  const message = "Too many authentication failures";
  return new AccountFault("too-many-failures", message, { retryAfterSeconds });
}

function ownerOf(token: TokenRow): rows.TokenOwner {
  return { kind: token.ownerKind, id: token.ownerId };
}
