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
    const fixed = await this.#checked(bucket, key, body, options);
    return this.#contents.store(body, options, async (content) => {
      const row = (uploadedAt: number) => ({ ...fixed, ...contentOf(content), uploadedAt });
      const { conditions } = options;
      const stored =
        conditions === undefined
          ? await this.#put(row(this.#now()))
          : await this.#putIf(conditions, row);
      // The metadata is the caller's own, not what was read back from the row.
      return stored && infoOf(stored, options);
    });
  }

  /** What the row will hold beside the octets. A body that comes with something wrong is not read. */
  async #checked(bucket: Bucket, key: string, body: Body | Uint8Array, options: PutOptions) {
    try {
      checkKey(key);
      return {
        bucket: bucket.number,
        key,
        version: randomId(),
        storageClass: storageClassOf(options, bucket),
        metadata: metadataOf(options, this.#limits.metadata),
      };
    } catch (error) {
      await leave(body);
      throw error;
    }
  }

  async #put(row: ObjectRow): Promise<ObjectRow> {
    this.#garbage.made(await this.#db.write(...writes.put(this.#db, row)));
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
      this.#garbage.made(await this.#db.write(...steps));
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

function contentOf({ size, md5, checksums, body, blob }: Content) {
  return { size, etag: md5, checksums, body, blob, partCount: null };
}
