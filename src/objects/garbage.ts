/**
 * What nothing names any more: collected when nobody reads it. A row of garbage is forgotten after what it
 * names is gone, so a crash in between only means that it is deleted again.
 */
import { type Database, integer, statement, type StepResult, time } from "#db";
import type { BlobDriver } from "./driver.ts";
import type { AllHolds } from "./holds.ts";
import { partsToCollect, removePartsUpTo } from "./part-rows.ts";
import { flag, id } from "./schema.ts";

/**
 * What other nodes read is not known here. A reader there that takes longer than this loses the rest of an
 * object that was replaced or deleted meanwhile.
 */
const GRACE_MS = 3_600_000;

/** Blobs deleted at a time. */
const BATCH = 256;

const garbageBehind = statement({
  sql: `SELECT id, has_parts FROM blob_garbage WHERE id > :after AND since <= :before
        ORDER BY id LIMIT :limit`,
  takes: { after: id, before: time, limit: integer },
  gives: { id, hasParts: flag },
});
const forget = statement({ sql: "DELETE FROM blob_garbage WHERE id = :id", takes: { id } });

export interface GarbageOptions {
  readonly db: Database;
  readonly blobs: BlobDriver;
  readonly holds: AllHolds;
  readonly now: () => number;
}

export class Garbage {
  readonly #db: Database;
  readonly #blobs: BlobDriver;
  readonly #holds: AllHolds;
  readonly #now: () => number;
  /** Hears that there is something to collect. */
  onMade: (() => void) | null = null;

  constructor({ db, blobs, holds, now }: GarbageOptions) {
    this.#db = db;
    this.#blobs = blobs;
    this.#holds = holds;
    this.#now = now;
  }

  /** Takes the results of a write; of its steps only those that make garbage give rows. */
  made(results: readonly StepResult[]): void {
    if (this.onMade !== null && results.some(({ rows }) => rows.length > 0)) this.onMade();
  }

  /** The same for a put: the last of so many steps changes as many rows as it makes garbage. */
  madeByPut(results: readonly StepResult[], steps: number): void {
    if (this.onMade !== null && results[steps - 1]!.changes > 0) this.onMade();
    else this.made(results);
  }

  /** Deletes what can be deleted now and tells how many blobs that were. Goes on while `mayGoOn`. */
  async collect(mayGoOn: () => Promise<boolean>): Promise<number> {
    const before = this.#now() - (this.#db.shared ? GRACE_MS : 0);
    let collected = 0;
    let after = "";
    for (;;) {
      const found = await this.#db.all(garbageBehind({ after, before, limit: BATCH }));
      collected += await this.#collectBlobs(
        found.flatMap(({ id, hasParts }) => (hasParts ? [] : [id])),
      );
      for (const { id, hasParts } of found) if (hasParts) collected += await this.#collectParts(id);
      if (found.length < BATCH || !(await mayGoOn())) return collected;
      after = found.at(-1)!.id;
    }
  }

  async #collectBlobs(ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0;
    using collecting = await this.#holds.collecting(ids);
    const { free } = collecting;
    if (free.length === 0) return 0;
    await this.#blobs.delete(free);
    await this.#db.write(...free.map((id) => forget({ id })));
    return free.length;
  }

  async #collectParts(upload: string): Promise<number> {
    using collecting = await this.#holds.collecting([upload]);
    if (collecting.free.length === 0) return 0;
    let collected = 0;
    for (;;) {
      const parts = await this.#db.all(partsToCollect({ upload, limit: BATCH }));
      if (parts.length === 0) break;
      const blobs = parts.flatMap(({ blob }) => (blob === null ? [] : [blob]));
      await this.#blobs.delete(blobs);
      await this.#db.write(removePartsUpTo({ upload, last: parts.at(-1)!.number }));
      collected += blobs.length;
    }
    await this.#db.write(forget({ id: upload }));
    return collected;
  }
}
