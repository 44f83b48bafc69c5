/** API tokens of users and of accounts: made, shown, changed, rolled, removed. */
import { type Database, isDatabaseFault, mustChangeOne, untilUndisturbed } from "#db";
import { randomId, randomUrlSafe } from "#kit/random.ts";
import { sha256 } from "#kit/secrets.ts";
import { AccountFault } from "./fault.ts";
import { checkPolicy, type Policy } from "./policy.ts";
import type { Recent } from "./recent.ts";
import * as rows from "./schema.ts";

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly status: rows.TokenStatus;
  readonly policies: readonly Policy[];
  readonly condition: rows.TokenCondition;
  readonly notBefore: number | null;
  readonly expiresOn: number | null;
  readonly issuedOn: number;
  readonly modifiedOn: number;
  readonly lastUsedOn: number | null;
}

export interface TokenInput {
  readonly name: string;
  /** Left as it is when not given; a new token is active. */
  readonly status?: rows.TokenStatus;
  readonly policies: readonly Omit<Policy, "id">[];
  readonly condition: rows.TokenCondition;
  readonly notBefore: number | null;
  readonly expiresOn: number | null;
}

export interface TokenPage {
  readonly direction: "asc" | "desc";
  readonly limit: number;
  readonly offset: number;
  readonly includeExpired: boolean;
}

/** A token's policies are read with every request that shows it, so they must stay small. */
const MAX_POLICY_CHARACTERS = 64 * 1024;

/** Characters of a token's value: 240 random bits, in the form that clients check for. */
const VALUE_LENGTH = 40;

export class Tokens {
  readonly #db: Database;
  readonly #recent: Recent;
  readonly #now: () => number;
  readonly #maxPerOwner: number;

  constructor(db: Database, recent: Recent, now: () => number, maxPerOwner: number) {
    this.#db = db;
    this.#recent = recent;
    this.#now = now;
    this.#maxPerOwner = maxPerOwner;
  }

  /** A page of an owner's tokens, oldest first or last, and how many there are in all. */
  async list(owner: rows.TokenOwner, page: TokenPage): Promise<{ tokens: Token[]; total: number }> {
    const { direction, limit, offset } = page;
    const expiredBy = page.includeExpired ? 0 : this.#now();
    const which = { ...ownerColumns(owner), expiredBy };
    const tokens = await this.#db.all(rows.tokenPages[direction]({ ...which, limit, offset }));
    return { tokens, total: (await this.#db.first(rows.countTokens(which)))!.count };
  }

  async get(owner: rows.TokenOwner, id: string): Promise<Token> {
    const token = await this.#db.first(rows.tokenById({ id, ...ownerColumns(owner) }));
    if (token === null) throw new AccountFault("no-such-token", `There is no token ${id}`);
    return token;
  }

  /** Makes a token. This is the only time its value is seen. */
  async create(
    owner: rows.TokenOwner,
    input: TokenInput,
  ): Promise<{ token: Token; value: string }> {
    const policies = numbered(input.policies);
    const value = randomUrlSafe(VALUE_LENGTH);
    const at = this.#now();
    const dates = { issuedOn: at, modifiedOn: at, lastUsedOn: null };
    const token = { status: "active" as const, ...input, policies, ...dates, id: randomId() };
    const id = token.id;
    try {
      await this.#db.write(
        rows.addToken({ ...token, ...ownerColumns(owner), valueHash: sha256(value) }),
        mustChangeOne(rows.withinTokens({ id, most: this.#maxPerOwner, ...ownerColumns(owner) })),
      );
    } catch (error) {
      if (!isDatabaseFault(error, "guard")) throw error;
      const message = `At most ${this.#maxPerOwner} tokens are allowed; delete one first`;
      throw new AccountFault("too-many-tokens", message);
    }
    return { token, value };
  }

  async edit(owner: rows.TokenOwner, id: string, input: TokenInput): Promise<Token> {
    const policies = numbered(input.policies);
    return untilUndisturbed(async () => {
      const before = await this.get(owner, id);
      const token = { ...before, ...input, policies, modifiedOn: this.#now() };
      await this.#db.write(mustChangeOne(rows.setToken(token)));
      this.#recent.forget();
      return token;
    });
  }

  /** Gives the token a new value; the old one stops working at once. */
  async roll(owner: rows.TokenOwner, id: string): Promise<string> {
    const value = randomUrlSafe(VALUE_LENGTH);
    const valueHash = sha256(value);
    return untilUndisturbed(async () => {
      await this.get(owner, id);
      const modifiedOn = this.#now();
      await this.#db.write(mustChangeOne(rows.setTokenValue({ id, valueHash, modifiedOn })));
      this.#recent.forget();
      return value;
    });
  }

  async remove(owner: rows.TokenOwner, id: string): Promise<void> {
    await this.get(owner, id);
    await this.#db.write(rows.removeToken({ id }));
    this.#recent.forget();
  }
}

/** What a token is worth at a moment: an expired one is not active, whatever was set. */
export function tokenStatus(
  { status, expiresOn }: { status: rows.TokenStatus; expiresOn: number | null },
  now: number,
): rows.TokenStatus | "expired" {
  return expiresOn !== null && expiresOn <= now ? "expired" : status;
}

function ownerColumns(owner: rows.TokenOwner) {
  return { ownerKind: owner.kind, ownerId: owner.id };
}

/** Checks policies and gives each its id. */
function numbered(policies: readonly Omit<Policy, "id">[]): Policy[] {
  if (JSON.stringify(policies).length > MAX_POLICY_CHARACTERS) {
    const message = `The policies of a token may take ${MAX_POLICY_CHARACTERS} characters together`;
    throw new AccountFault("bad-policy", message, { pointer: "/policies" });
  }
  return policies.map((policy, i) => {
    checkPolicy(policy, ["policies", i]);
    return { ...policy, id: randomId() };
  });
}
