/** Buckets: made, shown, changed, removed. */
import {
  type Database,
  integer,
  isDatabaseFault,
  mustChangeOne,
  statement,
  text,
  time,
  untilUndisturbed,
} from "#db";
import { type Depends, Generations } from "#kit/generations.ts";
import { randomId } from "#kit/random.ts";
import { ObjectFault } from "./fault.ts";
import type { Garbage } from "./garbage.ts";
import { checkStorageClass } from "./metadata.ts";
import type { Bucket, StorageClass } from "./model.ts";
import { storageClass } from "./schema.ts";
import { removeAll } from "./upload-rows.ts";

/** How often a removal starts again that met something new in the bucket. */
const MAX_ATTEMPTS = 10;

/** Buckets kept at hand: some hundred octets each. */
const MAX_KNOWN = 1_000;

const BUCKET_NAME = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

const bucket = {
  id: text,
  number: integer,
  accountId: text,
  name: text,
  storageClass,
  createdAt: time,
  settingsRevision: integer,
  notifications: integer,
};
const BUCKET =
  "id, number, account_id, name, storage_class, created_at, settings_revision, notifications";

const bucketByName = statement({
  sql: `SELECT ${BUCKET} FROM buckets WHERE name = :name`,
  takes: { name: text },
  gives: bucket,
});
const bucketsOfAccount = statement({
  sql: `SELECT ${BUCKET} FROM buckets WHERE account_id = :accountId ORDER BY name`,
  takes: { accountId: text },
  gives: bucket,
});
const numberOfBuckets = statement({
  sql: "SELECT COUNT(*) FROM buckets WHERE account_id = :accountId",
  takes: { accountId: text },
  gives: { buckets: integer },
});
const lastNumber = statement({
  sql: "SELECT last FROM bucket_numbers WHERE id = 1",
  gives: { last: integer },
});
const takeNumber = statement({
  sql: "UPDATE bucket_numbers SET last = :number WHERE id = 1 AND last = :last",
  takes: { number: integer, last: integer },
});
const addBucket = statement({
  sql: `INSERT INTO buckets (${BUCKET})
        VALUES (:id, :number, :accountId, :name, :storageClass, :createdAt, :settingsRevision,
          :notifications)`,
  takes: bucket,
});
const setStorageClass = statement({
  sql: `UPDATE buckets SET storage_class = :storageClass WHERE name = :name RETURNING ${BUCKET}`,
  takes: { name: text, storageClass },
  gives: bucket,
});
const firstObject = statement({
  sql: "SELECT version FROM objects WHERE bucket = :bucket LIMIT 1",
  takes: { bucket: integer },
  gives: { version: text },
});
const removeBucket = statement({
  sql: "DELETE FROM buckets WHERE number = :number",
  takes: { number: integer },
});

export interface BucketsOptions {
  readonly db: Database;
  readonly garbage: Garbage;
  readonly mostBuckets: number;
  readonly now: () => number;
  /** Of all stores on this ground. */
  readonly generations?: Generations;
}

interface Known {
  readonly row: Promise<Bucket>;
  readonly depends: Depends;
  /** What it is, once it is read. */
  bucket: Bucket | null;
}

export class Buckets {
  readonly #db: Database;
  readonly #garbage: Garbage;
  readonly #mostBuckets: number;
  readonly #now: () => number;

  readonly #generations: Generations;
  /** By name, as they were read last; good until they change, on whichever thread. */
  readonly #known = new Map<string, Known>();

  constructor({ db, garbage, mostBuckets, now, generations = new Generations() }: BucketsOptions) {
    this.#generations = generations;
    this.#db = db;
    this.#garbage = garbage;
    this.#mostBuckets = mostBuckets;
    this.#now = now;
  }

  async create(accountId: string, name: string, storageClass: StorageClass): Promise<Bucket> {
    checkName(name);
    checkStorageClass(storageClass);
    return untilUndisturbed(async () => {
      if ((await this.#db.first(bucketByName({ name }))) !== null) throw exists(name);
      const { buckets } = (await this.#db.first(numberOfBuckets({ accountId })))!;
      if (buckets >= this.#mostBuckets) {
        throw new ObjectFault(
          "too-many-buckets",
          `An account has at most ${this.#mostBuckets} buckets`,
        );
      }
      const { last } = (await this.#db.first(lastNumber({})))!;
      const number = last + 1;
      const createdAt = this.#now();
      const made = {
        id: randomId(),
        number,
        accountId,
        name,
        storageClass,
        createdAt,
        settingsRevision: 0,
        notifications: 0,
      };
      try {
        await this.#db.write(mustChangeOne(takeNumber({ number, last })), addBucket(made));
      } catch (error) {
        if (isDatabaseFault(error, "unique")) throw exists(name);
        throw error;
      }
      return made;
    });
  }

  /** Everything asked of a store begins with this, so what only this process can change is not read again. */
  get(name: string): Promise<Bucket> {
    if (this.#db.shared) return this.#read(name);
    const known = this.#known.get(name);
    if (known !== undefined && this.#generations.stands(known.depends)) return known.row;
    const depends = this.#generations.of(topicOf(name));
    const row = this.#read(name);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    const reading: Known = { row, depends, bucket: null };
    this.#known.set(name, reading);
    row.then(
      (read) => (reading.bucket = read),
      () => this.#known.delete(name),
    );
    return row;
  }

  /** The same at once; null where it has to be read. */
  atHand(name: string): Bucket | null {
    const known = this.#known.get(name);
    return known !== undefined && this.#generations.stands(known.depends) ? known.bucket : null;
  }

  async #read(name: string): Promise<Bucket> {
    // What cannot be a name may hold what the database would choke on: PostgreSQL takes no NUL.
    const found = BUCKET_NAME.test(name) ? await this.#db.first(bucketByName({ name })) : null;
    if (found === null) throw noSuchBucket(name);
    return found;
  }

  /** Its row is to be read again. */
  forget(name: string): void {
    this.#generations.moved(topicOf(name));
  }

  /** Of these accounts, by name. */
  async list(accountIds: readonly string[]): Promise<Bucket[]> {
    const lists = await Promise.all(
      accountIds.map((accountId) => this.#db.all(bucketsOfAccount({ accountId }))),
    );
    return lists.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async setStorageClass(name: string, storageClass: StorageClass): Promise<Bucket> {
    checkStorageClass(storageClass);
    const [{ rows }] = await this.#db
      .write(setStorageClass({ name, storageClass }))
      .finally(() => this.forget(name));
    if (rows[0] === undefined) throw noSuchBucket(name);
    return rows[0];
  }

  /** Only an empty one; uploads under way are aborted. */
  async remove(name: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { number } = await this.get(name);
      const isEmpty = (await this.#db.first(firstObject({ bucket: number }))) === null;
      if (!isEmpty || attempt > MAX_ATTEMPTS) throw notEmpty(name);
      try {
        const steps = [...removeAll(number, this.#now()), mustChangeOne(removeBucket({ number }))];
        const removed = this.#db.write(...steps).finally(() => this.forget(name));
        return this.#garbage.made(await removed);
      } catch (error) {
        // An object or an upload came meanwhile, whose row needs the bucket's; or the bucket has gone.
        const isDisturbed = isDatabaseFault(error, "reference") || isDatabaseFault(error, "guard");
        if (!isDisturbed) throw error;
      }
    }
  }
}

function topicOf(name: string): string {
  return `bucket ${name}`;
}

function checkName(name: string): void {
  if (BUCKET_NAME.test(name)) return;
  const shown = JSON.stringify(name.slice(0, 80));
  throw new ObjectFault(
    "bad-bucket-name",
    `${shown} is no bucket name: 3 to 63 of a-z, 0-9 and -, with a letter or digit at both ends`,
  );
}

function exists(name: string): ObjectFault {
  return new ObjectFault("bucket-exists", `There is a bucket ${name} already`);
}

export function noSuchBucket(name: string): ObjectFault {
  const shown = JSON.stringify(name.slice(0, 80));
  return new ObjectFault("no-such-bucket", `There is no bucket ${shown}`);
}

function notEmpty(name: string): ObjectFault {
  return new ObjectFault("bucket-not-empty", `The bucket ${name} still holds objects`);
}
