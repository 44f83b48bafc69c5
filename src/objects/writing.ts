/** Puts and deletes: what is checked first, and the one commit that makes the change. */
import { type Database, untilUndisturbed } from "#db";
import { randomId } from "#kit/random.ts";
import { leave } from "./bodies.ts";
import { allowWrite } from "./conditions.ts";
import type { Content, Contents } from "./contents.ts";
import { ObjectFault } from "./fault.ts";
import type { Garbage } from "./garbage.ts";
import { checkKey } from "./keys.ts";
import { MAX_DELETED_KEYS, type ObjectLimits } from "./limits.ts";
import { metadataOf, storageClassOf } from "./metadata.ts";
import type { Body, Bucket, Conditions, ObjectInfo, PutOptions } from "./model.ts";
import { infoOf, objectInfo, type ObjectRow } from "./object-rows.ts";
import * as writes from "./object-writes.ts";

export interface WritingOptions {
  readonly db: Database;
  readonly contents: Contents;
  readonly garbage: Garbage;
  readonly limits: ObjectLimits;
  readonly now: () => number;
}

/** What a put says of its object. */
type Described = Pick<ObjectRow, "bucket" | "key" | "version" | "storageClass" | "metadata">;

export class Writing {
  readonly #db: Database;
  readonly #contents: Contents;
  readonly #garbage: Garbage;
  readonly #limits: ObjectLimits;
  readonly #now: () => number;

  constructor({ db, contents, garbage, limits, now }: WritingOptions) {
    this.#db = db;
    this.#contents = contents;
    this.#garbage = garbage;
    this.#limits = limits;
    this.#now = now;
  }

  async put(
    bucket: Bucket,
    key: string,
    body: Body | Uint8Array,
    options: PutOptions,
  ): Promise<ObjectInfo | null> {
    let described: Described;
    try {
      described = this.#describe(bucket, key, options);
    } catch (error) {
      await leave(body); // What comes with something wrong is not read.
      throw error;
    }
    return this.#contents.store(body, options, (content) =>
      this.#commit(described, content, options),
    );
  }

  /** What the row will hold beside the octets. */
  #describe(bucket: Bucket, key: string, options: PutOptions): Described {
    checkKey(key);
    return {
      bucket: bucket.number,
      key,
      version: randomId(),
      storageClass: storageClassOf(options, bucket),
      metadata: metadataOf(options, this.#limits.metadata),
    };
  }

  async #commit(
    { bucket, key, version, storageClass, metadata }: Described,
    { size, md5, checksums, body, blob }: Content,
    options: PutOptions,
  ): Promise<ObjectInfo | null> {
    const [etag, partCount] = [md5, null];
    const about = { bucket, key, version, size, etag, storageClass, checksums, metadata };
    const rowAt = (uploadedAt: number) => ({ ...about, uploadedAt, partCount, blob, body });
    const { conditions } = options;
    const stored =
      conditions === undefined
        ? await this.#put(rowAt(this.#now()))
        : await this.#putIf(conditions, rowAt);
    // The metadata is the caller's own, not what was read back from the row.
    return stored && infoOf(stored, options);
  }

  async #put(row: ObjectRow): Promise<ObjectRow> {
    this.#garbage.madeByPut(await this.#db.write(...writes.put(this.#db, row)));
    return row;
  }

  /** The check and the write are one: what was checked must still be there when it is written. */
  #putIf(
    conditions: Conditions,
    rowAt: (uploadedAt: number) => ObjectRow,
  ): Promise<ObjectRow | null> {
    return untilUndisturbed(async () => {
      const row = rowAt(this.#now());
      const seen = await this.#db.first(objectInfo(row));
      if (!allowWrite(conditions, seen)) return null;
      const steps = writes.putAfter(this.#db, row, seen?.version ?? null);
      this.#garbage.madeByPut(await this.#db.write(...steps));
      return row;
    });
  }

  async delete(bucket: Bucket, keys: readonly string[]): Promise<void> {
    if (keys.length < 1 || keys.length > MAX_DELETED_KEYS) {
      const message = `From 1 to ${MAX_DELETED_KEYS} keys can be deleted at once, not ${keys.length}`;
      throw new ObjectFault("bad-key-count", message);
    }
    for (const key of keys) checkKey(key);
    // In one order everywhere, so that no two deletes wait for each other.
    const sorted = keys.length === 1 ? keys : [...new Set(keys)].sort();
    this.#garbage.made(await this.#db.write(...writes.remove(bucket, sorted, this.#now())));
  }
}
