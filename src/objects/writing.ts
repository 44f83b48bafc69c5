/** Puts and deletes: what is checked first, and the one commit that makes the change. */
import { type Bound, type Database, isDatabaseFault, untilUndisturbed } from "#db";
import { randomId } from "#kit/random.ts";
import type { Alongside, Put } from "./alongside.ts";
import { leave } from "./bodies.ts";
import { allowDelete, allowWrite } from "./conditions.ts";
import type { Content, Contents } from "./contents.ts";
import { Seal } from "./encryption.ts";
import { ObjectFault } from "./fault.ts";
import type { Garbage } from "./garbage.ts";
import { checkKey } from "./keys.ts";
import { MAX_DELETED_KEYS, type ObjectLimits } from "./limits.ts";
import { checkStorageClass, metadataOf, retagged, storageClassOf } from "./metadata.ts";
import type {
  Body,
  Bucket,
  CameBy,
  Conditions,
  DeleteConditions,
  DeleteOutcome,
  ObjectInfo,
  PutOptions,
  StorageClass,
} from "./model.ts";
import { infoOf, objectInfo, type ObjectRow } from "./object-rows.ts";
import * as writes from "./object-writes.ts";
import type { RecentObjects } from "./recent-objects.ts";

export interface WritingOptions {
  readonly db: Database;
  readonly contents: Contents;
  readonly garbage: Garbage;
  readonly recent: RecentObjects;
  readonly limits: ObjectLimits;
  readonly now: () => number;
  readonly alongside: Alongside;
}

/** What a put says of its object. */
interface Described extends Pick<ObjectRow, "key" | "version" | "storageClass" | "metadata"> {
  readonly bucket: Bucket;
  readonly seal: Seal | null;
}

export class Writing {
  readonly #db: Database;
  readonly #contents: Contents;
  readonly #garbage: Garbage;
  readonly #recent: RecentObjects;
  readonly #limits: ObjectLimits;
  readonly #now: () => number;
  readonly #alongside: Alongside;

  constructor({ db, contents, garbage, recent, limits, now, alongside }: WritingOptions) {
    this.#db = db;
    this.#contents = contents;
    this.#garbage = garbage;
    this.#recent = recent;
    this.#limits = limits;
    this.#now = now;
    this.#alongside = alongside;
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
    const { seal } = described;
    return this.#contents.store(body, { ...options, seal }, (content) =>
      this.#commit(described, content, options),
    );
  }

  /** What the row will hold beside the octets. */
  #describe(bucket: Bucket, key: string, options: PutOptions): Described {
    checkKey(key);
    return {
      bucket,
      key,
      version: randomId(),
      storageClass: storageClassOf(options, bucket),
      metadata: metadataOf(options, this.#limits.metadata),
      seal: options.encryption === undefined ? null : Seal.begin(options.encryption),
    };
  }

  async #commit(
    { bucket, key, version, storageClass, metadata, seal }: Described,
    { size, etag, checksums, body, blob, iv }: Content,
    options: PutOptions,
  ): Promise<ObjectInfo | null> {
    const row: ObjectRow = {
      bucket: bucket.number,
      key,
      version,
      size,
      etag,
      uploadedAt: this.#now(),
      storageClass,
      partCount: null,
      checksums,
      encryption: seal && { ...seal.encryption, iv: iv! },
      metadata,
      blob,
      body,
    };
    const { conditions, cameBy } = options;
    const stored =
      conditions === undefined
        ? await this.#put(bucket, row, cameBy)
        : await this.#putIf(bucket, row, conditions, cameBy);
    // The metadata is the caller's own, not what was read back from the row.
    return stored && infoOf(stored, options);
  }

  async #put(bucket: Bucket, row: ObjectRow, cameBy?: CameBy): Promise<ObjectRow> {
    await this.#write(bucket, { kind: "put", row, cameBy }, writes.put(this.#db, row));
    return row;
  }

  /** The check and the write are one: what was checked must still be there when it is written. */
  #putIf(
    bucket: Bucket,
    described: ObjectRow,
    conditions: Conditions,
    cameBy?: CameBy,
  ): Promise<ObjectRow | null> {
    return untilUndisturbed(async () => {
      const row = { ...described, uploadedAt: this.#now() };
      const seen = await this.#db.first(objectInfo(row));
      if (!allowWrite(conditions, seen)) return null;
      const steps = writes.putAfter(this.#db, row, seen?.version ?? null);
      await this.#write(bucket, { kind: "put", row, cameBy }, steps);
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
    const steps = writes.remove(bucket, sorted, this.#now(), this.#marked(bucket));
    await this.#remove(bucket, sorted, steps);
  }

  /** What was checked must still be there when it is removed. */
  deleteIf(bucket: Bucket, key: string, conditions: DeleteConditions): Promise<DeleteOutcome> {
    checkKey(key);
    return untilUndisturbed(async () => {
      const seen = await this.#db.first(objectInfo({ bucket: bucket.number, key }));
      if (seen === null) return "missing";
      if (!allowDelete(conditions, seen)) return "condition-failed";
      const marked = this.#marked(bucket);
      const steps = writes.removeAfter(bucket, key, seen.version, this.#now(), marked);
      await this.#remove(bucket, [key], steps);
      return "deleted";
    });
  }

  /** For an object whose time has come. False when that version is there no more. */
  async expire(bucket: Bucket, key: string, version: string): Promise<boolean> {
    const marked = this.#marked(bucket, true);
    const steps = writes.removeAfter(bucket, key, version, this.#now(), marked);
    try {
      await this.#remove(bucket, [key], steps);
      return true;
    } catch (error) {
      if (isDatabaseFault(error, "guard")) return false;
      throw error;
    }
  }

  /** False when there is no such object. */
  setTags(bucket: Bucket, key: string, tags: Readonly<Record<string, string>>): Promise<boolean> {
    checkKey(key);
    return untilUndisturbed(async () => {
      const seen = await this.#db.first(objectInfo({ bucket: bucket.number, key }));
      if (seen === null) return false;
      const metadata = retagged(seen.metadata, tags);
      const step = writes.describe(bucket, key, seen.version, metadata);
      await this.#recent.change(bucket, [key], () => this.#db.write(step));
      return true;
    });
  }

  /** False when that version is there no more. */
  async transition(
    bucket: Bucket,
    key: string,
    version: string,
    storageClass: StorageClass,
  ): Promise<boolean> {
    checkStorageClass(storageClass);
    const step = writes.setStorageClass({ bucket: bucket.number, key, version, storageClass });
    const [result] = await this.#recent.change(bucket, [key], () => this.#db.write(step));
    return result.changes > 0;
  }

  /** The put, and what goes with it, in one commit. */
  async #write(bucket: Bucket, change: Put, own: readonly Bound[]): Promise<void> {
    const steps = [...own, ...this.#alongside.steps(bucket, change)];
    const write = () => this.#db.write(...steps);
    const results = await this.#recent.change(bucket, [change.row.key], write);
    this.#garbage.madeByPut(results, own.length);
    this.#alongside.written(bucket);
  }

  async #remove(bucket: Bucket, keys: readonly string[], steps: readonly Bound[]): Promise<void> {
    const write = () => this.#db.write(...steps);
    this.#garbage.made(await this.#recent.change(bucket, keys, write));
    this.#alongside.written(bucket);
  }

  /** What goes with a removal. */
  #marked(bucket: Bucket, isExpiry = false) {
    return (keys: readonly string[], mark: string) =>
      this.#alongside.steps(bucket, { kind: "delete", keys, mark, isExpiry });
  }
}
