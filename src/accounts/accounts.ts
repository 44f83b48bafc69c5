/** Users, their accounts, and what an identity may do with them. */
import { type Database, mustChangeOne, untilUndisturbed } from "#db";
import { randomId } from "#kit/random.ts";
import { AccountFault } from "./fault.ts";
import { type Identity, personBehind } from "./identity.ts";
import type { Permission } from "./permissions.ts";
import { permits, reaches, type Resource } from "./policy.ts";
import type { Recent } from "./recent.ts";
import * as rows from "./schema.ts";

export interface User {
  readonly id: string;
  readonly email: string;
  readonly details: rows.UserDetails;
}

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly type: rows.AccountType;
  readonly settings: rows.AccountSettings;
  readonly createdAt: number;
}

export interface Membership {
  readonly membershipId: string;
  readonly account: Account;
}

/** A person's accounts are listed whole at every log-in, so they must stay a list. */
const MAX_ACCOUNTS_PER_USER = 1_000;

export const defaultSettings: rows.AccountSettings = {
  enforceTwofactor: false,
  abuseContactEmail: null,
};

export class Accounts {
  readonly #db: Database;
  readonly #recent: Recent;
  readonly #now: () => number;

  constructor(db: Database, recent: Recent, now: () => number) {
    this.#db = db;
    this.#recent = recent;
    this.#now = now;
  }

  /** Throws unless the identity may do this to that. Asked before any work. */
  async authorize(identity: Identity, permission: Permission, resource: Resource): Promise<void> {
    if (await this.may(identity, permission, resource)) return;
    const kind = permission.startsWith("dns.") ? "forbidden-records" : "forbidden";
    throw new AccountFault(kind, `${permission} is not permitted here`);
  }

  async may(identity: Identity, permission: Permission, resource: Resource): Promise<boolean> {
    if (!(await this.#owns(identity, resource))) return false;
    return identity.kind === "user" || permits(identity.policies, permission, resource);
  }

  async user(id: string): Promise<User> {
    const user = await this.#db.first(rows.userById({ id }));
    // A user is never removed while an identity speaks for it.
    if (user === null) throw new Error(`The user ${id} is gone`);
    return user;
  }

  async editUser(id: string, change: Partial<rows.UserDetails>): Promise<User> {
    return untilUndisturbed(async () => {
      const user = await this.user(id);
      const details = { ...user.details, ...change };
      await this.#db.write(mustChangeOne(rows.setUserDetails({ id, details, seen: user.details })));
      return { ...user, details };
    });
  }

  async account(id: string): Promise<Account> {
    const account = await this.#db.first(rows.accountById({ id }));
    if (account === null) throw new AccountFault("no-such-account", `There is no account ${id}`);
    return account;
  }

  /** The one that the first start has made. */
  async first(): Promise<Account> {
    const account = await this.#db.first(rows.firstAccount({}));
    if (account === null) throw new Error("The database has no account");
    return account;
  }

  /** The accounts that the identity has anything to do with, by name. */
  async accountsOf(identity: Identity): Promise<Account[]> {
    if (identity.kind === "user")
      return this.#db.all(rows.accountsOfUser({ userId: identity.userId }));
    const owned = await this.ownersOf(identity);
    return owned.filter(({ id }) => reaches(identity.policies, id));
  }

  /** The accounts of the person or the account behind the identity, whatever its policies say. */
  async ownersOf(identity: Identity): Promise<Account[]> {
    const userId = personBehind(identity);
    if (userId !== null) return this.#db.all(rows.accountsOfUser({ userId }));
    return identity.kind === "token" ? [await this.account(identity.owner.id)] : [];
  }

  async memberships(userId: string): Promise<Membership[]> {
    const accounts = await this.#db.all(rows.accountsOfUser({ userId }));
    return accounts.map((account) => ({ membershipId: account.membershipId, account }));
  }

  async createAccount(userId: string, name: string, type: rows.AccountType): Promise<Account> {
    if ((await this.memberships(userId)).length >= MAX_ACCOUNTS_PER_USER) {
      const message = `A user may have at most ${MAX_ACCOUNTS_PER_USER} accounts`;
      throw new AccountFault("too-many-accounts", message);
    }
    const createdAt = this.#now();
    const account = { id: randomId(), name, type, settings: defaultSettings, createdAt };
    await this.#db.write(
      rows.addAccount(account),
      rows.addMembership({ userId, accountId: account.id, id: randomId(), createdAt }),
    );
    return account;
  }

  async editAccount(
    id: string,
    change: { name: string; settings: Partial<rows.AccountSettings> },
  ): Promise<Account> {
    const { name } = change;
    return untilUndisturbed(async () => {
      const account = await this.account(id);
      const settings = { ...account.settings, ...change.settings };
      const step = rows.setAccount({ id, name, settings, seen: account.settings });
      await this.#db.write(mustChangeOne(step));
      return { ...account, name, settings };
    });
  }

  /** Whether the resource belongs to the identity's owner at all, whatever its policies say. */
  async #owns(identity: Identity, resource: Resource): Promise<boolean> {
    const userId = personBehind(identity);
    if (resource.kind === "user") return resource.user === userId;
    if (userId === null) {
      return identity.kind === "token" && identity.owner.id === resource.account;
    }
    const accountId = resource.account;
    const find = () => this.#db.first(rows.membershipOf({ userId, accountId }));
    return (await this.#recent.get(`member ${userId} ${accountId}`, find)) !== null;
  }
}
