/** Key pairs for S3. Their secrets must be recoverable to check signatures, so they are sealed. */
import { type Database, isDatabaseFault, mustChangeOne, type RowOf } from "#db";
import { randomHex } from "#kit/random.ts";
import { seal, unseal } from "#kit/secrets.ts";
import { AccountFault } from "./fault.ts";
import type { Recent } from "./recent.ts";
import { type BucketGrant, checkGrant, type S3Grant, type S3Permission } from "./s3-grants.ts";
import * as rows from "./s3-key-rows.ts";
import { UseNotes } from "./use-notes.ts";

export interface S3KeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3KeyInput {
  readonly name: string;
  readonly permission: S3Permission;
  /** Null for all buckets of the account. */
  readonly buckets: readonly BucketGrant[] | null;
  /** In ms since the epoch; null for never. */
  readonly expiresAt: number | null;
}

export interface S3Key extends S3KeyInput, S3Grant {
  readonly accessKeyId: string;
  readonly accountId: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** With its secret, for those who check signatures. */
export type OpenS3Key = S3Key & S3KeyPair;

export interface S3KeysOptions {
  readonly db: Database;
  readonly recent: Recent;
  readonly sealKey: Uint8Array;
  readonly now: () => number;
  /** Hears when a time of last use could not be kept; no request fails of it. */
  readonly onLostNote: (error: unknown) => void;
}

/** Lengths that the original's clients know. */
export const S3_ID_DIGITS = 32;
export const S3_SECRET_DIGITS = 64;

/** Whoever asks for another is a stranger, and may send what the database would choke on. */
const ACCESS_KEY_ID = /^[\x21-\x7e]{1,256}$/;

/** An account's keys are listed whole. */
const MAX_KEYS_PER_ACCOUNT = 1_000;

export class S3Keys implements AsyncDisposable {
  readonly #options: S3KeysOptions;
  readonly #uses: UseNotes;

  constructor(options: S3KeysOptions) {
    this.#options = options;
    this.#uses = new UseNotes({
      write: (accessKeyId, at) => options.db.write(rows.setS3KeyUsed({ accessKeyId, at })),
      onLost: options.onLostNote,
    });
  }

  /** The key that works under this id now; null when there is none, or it has expired. At once for one found of late. */
  find(accessKeyId: string): OpenS3Key | null | Promise<OpenS3Key | null> {
    if (!ACCESS_KEY_ID.test(accessKeyId)) return null;
    const key = this.#options.recent.get(`s3 ${accessKeyId}`, () => this.#read(accessKeyId));
    return key instanceof Promise ? key.then((read) => this.#working(read)) : this.#working(key);
  }

  async #read(accessKeyId: string): Promise<OpenS3Key | null> {
    const row = await this.#options.db.first(rows.s3KeyById({ accessKeyId }));
    return row && opened(this.#options.sealKey, row);
  }

  #working(key: OpenS3Key | null): OpenS3Key | null {
    const hasExpired =
      key !== null && key.expiresAt !== null && key.expiresAt <= this.#options.now();
    return hasExpired ? null : key;
  }

  /** Called when a request has proved to hold the key. */
  noteUse({ accessKeyId, lastUsedAt }: S3Key): void {
    this.#uses.note(accessKeyId, lastUsedAt, this.#options.now());
  }

  /** The keys of an account, oldest first. */
  async list(accountId: string): Promise<S3Key[]> {
    return (await this.#options.db.all(rows.s3KeysOfAccount({ accountId }))).map(shown);
  }

  async get(accountId: string, accessKeyId: string): Promise<S3Key> {
    if (!ACCESS_KEY_ID.test(accessKeyId)) throw noSuchKey(accessKeyId);
    const row = await this.#options.db.first(rows.s3KeyById({ accessKeyId }));
    if (row?.accountId === accountId) return shown(row);
    throw noSuchKey(accessKeyId);
  }

  /** Makes a key. This is the only time its secret is seen. */
  async create(accountId: string, input: S3KeyInput): Promise<OpenS3Key> {
    const { db, sealKey, now } = this.#options;
    checkGrant(input);
    const createdAt = now();
    if (input.expiresAt !== null && input.expiresAt <= createdAt) {
      const message = "The key would have expired already";
      throw new AccountFault("bad-key", message, { pointer: "/expires_on" });
    }
    const accessKeyId = randomHex(S3_ID_DIGITS);
    const pair = { accessKeyId, secretAccessKey: randomHex(S3_SECRET_DIGITS) };
    try {
      await db.write(
        s3KeyRow(sealKey, accountId, pair, input, createdAt),
        mustChangeOne(rows.withinS3Keys({ accessKeyId, most: MAX_KEYS_PER_ACCOUNT, accountId })),
      );
    } catch (error) {
      if (!isDatabaseFault(error, "guard")) throw error;
      const message = `At most ${MAX_KEYS_PER_ACCOUNT} S3 keys are allowed; revoke one first`;
      throw new AccountFault("too-many-keys", message);
    }
    return { ...input, ...pair, accountId, createdAt, lastUsedAt: null, operations: null };
  }

  /** The key, and all that was derived from it, stops working: at once on this node. */
  async revoke(accountId: string, accessKeyId: string): Promise<void> {
    const { db, recent } = this.#options;
    if (!ACCESS_KEY_ID.test(accessKeyId)) throw noSuchKey(accessKeyId);
    try {
      await db.write(mustChangeOne(rows.removeS3Key({ accessKeyId, accountId })));
    } catch (error) {
      throw isDatabaseFault(error, "guard") ? noSuchKey(accessKeyId) : error;
    }
    recent.forget();
  }

  /** Waits for the notes of last use that are under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#uses[Symbol.asyncDispose]();
  }
}

type Row = RowOf<typeof rows.s3KeyById>;

function shown(row: Row): S3Key {
  const { sealedSecret: _sealedSecret, ...key } = row;
  return { ...key, operations: null };
}

function opened(sealKey: Uint8Array, row: Row): OpenS3Key {
  const secretAccessKey = unseal(sealKey, labelOf(row.accessKeyId), row.sealedSecret);
  if (secretAccessKey !== null) return { ...shown(row), secretAccessKey };
  throw new Error(`The secret of S3 key ${row.accessKeyId} cannot be opened`);
}

export function s3KeyRow(
  sealKey: Uint8Array,
  accountId: string,
  { accessKeyId, secretAccessKey }: S3KeyPair,
  { name, permission, buckets, expiresAt }: S3KeyInput,
  createdAt: number,
) {
  const sealedSecret = seal(sealKey, labelOf(accessKeyId), secretAccessKey);
  const grant = { name, permission, buckets, expiresAt, lastUsedAt: null };
  return rows.addS3Key({ accessKeyId, accountId, sealedSecret, createdAt, ...grant });
}

/** Binds a sealed secret to its key, so that two rows cannot be exchanged. */
function labelOf(accessKeyId: string): string {
  return `s3-key ${accessKeyId}`;
}

function noSuchKey(accessKeyId: string): AccountFault {
  return new AccountFault("no-such-key", `There is no S3 key ${accessKeyId} in this account`);
}
