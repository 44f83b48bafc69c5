/** The tables of accounts, and the statements that read and write them. */
import { integer, json, maybe, type Migration, statement, text, time, word } from "#db";
import type { Policy } from "./policy.ts";

export const accountMigrations: readonly Migration[] = [
  {
    part: "accounts",
    number: 1,
    sql: ({ text, integer, bytes }) => [
      `CREATE TABLE IF NOT EXISTS users (
        id ${text} PRIMARY KEY,
        email ${text} NOT NULL UNIQUE,
        key_hash ${text} NOT NULL,
        details ${text} NOT NULL,
        created_at ${integer} NOT NULL
      )`,
      `CREATE TABLE IF NOT EXISTS accounts (
        id ${text} PRIMARY KEY,
        name ${text} NOT NULL,
        type ${text} NOT NULL,
        settings ${text} NOT NULL,
        created_at ${integer} NOT NULL
      )`,
      `CREATE TABLE IF NOT EXISTS memberships (
        user_id ${text} NOT NULL REFERENCES users (id),
        account_id ${text} NOT NULL REFERENCES accounts (id),
        id ${text} NOT NULL UNIQUE,
        created_at ${integer} NOT NULL,
        PRIMARY KEY (user_id, account_id)
      )`,
      `CREATE TABLE IF NOT EXISTS tokens (
        id ${text} PRIMARY KEY,
        owner_kind ${text} NOT NULL,
        owner_id ${text} NOT NULL,
        name ${text} NOT NULL,
        status ${text} NOT NULL,
        value_hash ${text} NOT NULL UNIQUE,
        policies ${text} NOT NULL,
        condition ${text} NOT NULL,
        not_before ${integer},
        expires_on ${integer},
        issued_on ${integer} NOT NULL,
        modified_on ${integer} NOT NULL,
        last_used_on ${integer}
      )`,
      `CREATE INDEX IF NOT EXISTS tokens_by_owner ON tokens (owner_kind, owner_id, issued_on, id)`,
      `CREATE TABLE IF NOT EXISTS s3_keys (
        access_key_id ${text} PRIMARY KEY,
        account_id ${text} NOT NULL REFERENCES accounts (id),
        sealed_secret ${bytes} NOT NULL,
        created_at ${integer} NOT NULL
      )`,
      // Facts about the installation itself; a name is written once.
      `CREATE TABLE IF NOT EXISTS installation (name ${text} PRIMARY KEY, value ${text} NOT NULL)`,
    ],
  },
  {
    part: "accounts",
    number: 2,
    sql: ({ text, integer, addColumn }) => [
      `ALTER TABLE s3_keys ${addColumn} name ${text} NOT NULL DEFAULT 'first start'`,
      `ALTER TABLE s3_keys ${addColumn} permission ${text} NOT NULL DEFAULT 'admin'`,
      // Null for all buckets of the account.
      `ALTER TABLE s3_keys ${addColumn} buckets ${text}`,
      `ALTER TABLE s3_keys ${addColumn} expires_at ${integer}`,
      `ALTER TABLE s3_keys ${addColumn} last_used_at ${integer}`,
      `CREATE INDEX IF NOT EXISTS s3_keys_by_account
        ON s3_keys (account_id, created_at, access_key_id)`,
    ],
  },
];

export interface UserDetails {
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly telephone: string | null;
  readonly country: string | null;
  readonly zipcode: string | null;
}

export interface AccountSettings {
  readonly enforceTwofactor: boolean;
  readonly abuseContactEmail: string | null;
}

export type AccountType = "standard" | "enterprise";
export type TokenStatus = "active" | "disabled";
export type TokenOwner =
  | { readonly kind: "user"; readonly id: string }
  | { readonly kind: "account"; readonly id: string };

/** Where a token may be used from: address ranges. */
export interface TokenCondition {
  readonly in: readonly string[];
  readonly notIn: readonly string[];
}

const user = {
  id: text,
  email: text,
  keyHash: text,
  details: json<UserDetails>(),
  createdAt: time,
};
const USER = "id, email, key_hash, details, created_at";

export const userByEmail = statement({
  sql: `SELECT ${USER} FROM users WHERE email = :email`,
  takes: { email: text },
  gives: user,
});
export const userById = statement({
  sql: `SELECT ${USER} FROM users WHERE id = :id`,
  takes: { id: text },
  gives: user,
});
export const anyUser = statement({ sql: "SELECT id FROM users LIMIT 1", gives: { id: text } });
export const addUser = statement({
  sql: `INSERT INTO users (${USER}) VALUES (:id, :email, :keyHash, :details, :createdAt)`,
  takes: user,
});
export const setUserDetails = statement({
  sql: "UPDATE users SET details = :details WHERE id = :id AND details = :seen",
  takes: { id: text, details: json<UserDetails>(), seen: json<UserDetails>() },
});

const account = {
  id: text,
  name: text,
  type: word<AccountType>(),
  settings: json<AccountSettings>(),
  createdAt: time,
};
const ACCOUNT = "id, name, type, settings, created_at";

export const accountById = statement({
  sql: `SELECT ${ACCOUNT} FROM accounts WHERE id = :id`,
  takes: { id: text },
  gives: account,
});
export const firstAccount = statement({
  sql: `SELECT ${ACCOUNT} FROM accounts ORDER BY created_at, id LIMIT 1`,
  gives: account,
});
export const accountsOfUser = statement({
  sql: `SELECT a.id, a.name, a.type, a.settings, a.created_at, m.id, m.created_at
        FROM memberships m JOIN accounts a ON a.id = m.account_id
        WHERE m.user_id = :userId ORDER BY a.name, a.id`,
  takes: { userId: text },
  gives: { ...account, membershipId: text, joinedAt: time },
});
export const membershipOf = statement({
  sql: "SELECT id FROM memberships WHERE user_id = :userId AND account_id = :accountId",
  takes: { userId: text, accountId: text },
  gives: { id: text },
});
export const addAccount = statement({
  sql: `INSERT INTO accounts (${ACCOUNT}) VALUES (:id, :name, :type, :settings, :createdAt)`,
  takes: account,
});
export const setAccount = statement({
  sql: "UPDATE accounts SET name = :name, settings = :settings WHERE id = :id AND settings = :seen",
  takes: { id: text, name: text, settings: json<AccountSettings>(), seen: json<AccountSettings>() },
});
export const addMembership = statement({
  sql: `INSERT INTO memberships (user_id, account_id, id, created_at)
        VALUES (:userId, :accountId, :id, :createdAt)`,
  takes: { userId: text, accountId: text, id: text, createdAt: time },
});

const tokenFields = {
  id: text,
  ownerKind: word<TokenOwner["kind"]>(),
  ownerId: text,
  name: text,
  status: word<TokenStatus>(),
  valueHash: text,
  policies: json<readonly Policy[]>(),
  condition: json<TokenCondition>(),
  notBefore: maybe(time),
  expiresOn: maybe(time),
  issuedOn: time,
  modifiedOn: time,
  lastUsedOn: maybe(time),
};
const TOKEN = `id, owner_kind, owner_id, name, status, value_hash, policies, condition, not_before,
  expires_on, issued_on, modified_on, last_used_on`;

export const tokenByHash = statement({
  sql: `SELECT ${TOKEN} FROM tokens WHERE value_hash = :hash`,
  takes: { hash: text },
  gives: tokenFields,
});
export const tokenById = statement({
  sql: `SELECT ${TOKEN} FROM tokens WHERE id = :id AND owner_kind = :ownerKind AND owner_id = :ownerId`,
  takes: { id: text, ownerKind: text, ownerId: text },
  gives: tokenFields,
});
const LISTED = `FROM tokens WHERE owner_kind = :ownerKind AND owner_id = :ownerId
  AND (expires_on IS NULL OR expires_on > :expiredBy)`;
const tokenPage = (direction: "ASC" | "DESC") =>
  statement({
    sql: `SELECT ${TOKEN} ${LISTED} ORDER BY issued_on ${direction}, id ${direction}
          LIMIT :limit OFFSET :offset`,
    takes: { ownerKind: text, ownerId: text, expiredBy: time, limit: integer, offset: integer },
    gives: tokenFields,
  });
export const tokenPages = { asc: tokenPage("ASC"), desc: tokenPage("DESC") };
export const countTokens = statement({
  sql: `SELECT COUNT(*) ${LISTED}`,
  takes: { ownerKind: text, ownerId: text, expiredBy: time },
  gives: { count: integer },
});
/** Changes no row once the owner has more tokens than this: the guard of a write that adds one. */
export const withinTokens = statement({
  sql: `UPDATE tokens SET status = status WHERE id = :id AND :most >=
        (SELECT COUNT(*) FROM tokens WHERE owner_kind = :ownerKind AND owner_id = :ownerId)`,
  takes: { id: text, most: integer, ownerKind: text, ownerId: text },
});
export const addToken = statement({
  sql: `INSERT INTO tokens (${TOKEN}) VALUES (:id, :ownerKind, :ownerId, :name, :status, :valueHash,
        :policies, :condition, :notBefore, :expiresOn, :issuedOn, :modifiedOn, :lastUsedOn)`,
  takes: tokenFields,
});
export const setToken = statement({
  sql: `UPDATE tokens SET name = :name, status = :status, policies = :policies,
        condition = :condition, not_before = :notBefore, expires_on = :expiresOn,
        modified_on = :modifiedOn WHERE id = :id`,
  takes: {
    id: text,
    name: text,
    status: word<TokenStatus>(),
    policies: json<readonly Policy[]>(),
    condition: json<TokenCondition>(),
    notBefore: maybe(time),
    expiresOn: maybe(time),
    modifiedOn: time,
  },
});
export const setTokenValue = statement({
  sql: "UPDATE tokens SET value_hash = :valueHash, modified_on = :modifiedOn WHERE id = :id",
  takes: { id: text, valueHash: text, modifiedOn: time },
});
export const setTokenUsed = statement({
  sql: "UPDATE tokens SET last_used_on = :at WHERE id = :id",
  takes: { id: text, at: time },
});
export const removeToken = statement({
  sql: "DELETE FROM tokens WHERE id = :id",
  takes: { id: text },
});

export const installationFact = statement({
  sql: "SELECT value FROM installation WHERE name = :name",
  takes: { name: text },
  gives: { value: text },
});
export const addInstallationFact = statement({
  sql: "INSERT INTO installation (name, value) VALUES (:name, :value)",
  takes: { name: text, value: text },
});
