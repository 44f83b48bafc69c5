/**
 * Blobs that nothing names: written by a put that never came to its commit. What a row, a part or the
 * garbage names is never touched, nor what this process is writing.
 */
import { type Database, statement } from "#db";
import type { BlobDriver } from "./driver.ts";
import type { AllHolds } from "./holds.ts";
import { id } from "./schema.ts";

/** Another node's put that takes longer from its blob to its commit than this has failed. */
const LEAST_AGE_MS = 86_400_000;

/** Between the passes that find it without a name. A commit takes less than a minute, or has failed. */
const LEAST_SUSPICION_MS = 3_600_000;
/** What is kept of them in memory; the others have to wait. */
const MAX_SUSPECTS = 100_000;

/** Blobs that one statement asks for. */
const BATCH = 64;

const names = Array.from({ length: BATCH }, (_, i) => `id${i}`);
const among = `IN (${names.map((name) => `:${name}`).join()})`;
const named = statement({
  sql: `SELECT blob FROM objects WHERE blob ${among}
        UNION ALL SELECT blob FROM parts WHERE blob ${among}
        UNION ALL SELECT id FROM blob_garbage WHERE id ${among}`,
  takes: Object.fromEntries(names.map((name) => [name, id])),
  gives: { id },
});

/** Those of the blobs, at most 64, that a row, a part or the garbage names. */
export async function namedAmong(db: Database, blobs: readonly string[]): Promise<string[]> {
  const asked = names.map((name, i) => [name, blobs[i] ?? blobs[0]!] as const);
  return (await db.all(named(Object.fromEntries(asked)))).map(({ id }) => id);
}

export interface OrphanOptions {
  readonly db: Database;
  readonly blobs: BlobDriver;
  readonly holds: AllHolds;
  readonly now: () => number;
}

export class Orphans {
  readonly #db: Database;
  readonly #blobs: BlobDriver;
  readonly #holds: AllHolds;
  readonly #now: () => number;
  /** Blobs that nothing named in the last pass, with the time of the first that found them so. */
  #suspects: ReadonlyMap<string, number> = new Map();

  constructor({ db, blobs, holds, now }: OrphanOptions) {
    this.#db = db;
    this.#blobs = blobs;
    this.#holds = holds;
    this.#now = now;
  }

  /** Deletes orphans and tells how many there were. Goes on while `mayGoOn`. */
  async collect(mayGoOn: () => Promise<boolean>): Promise<number> {
    const suspects = new Map<string, number>();
    const before = this.#db.shared ? this.#now() - LEAST_AGE_MS : Infinity;
    let [listed, collected] = [0, 0];
    let batch: string[] = [];
    for await (const { id, writtenAt } of this.#blobs.list()) {
      if (++listed % BATCH === 0 && !(await mayGoOn())) return collected;
      if (writtenAt > before || !/^[0-9a-f]{32}$/.test(id)) continue;
      if (batch.push(id) < BATCH) continue;
      collected += await this.#sift(batch, suspects);
      batch = [];
    }
    if (batch.length > 0) collected += await this.#sift(batch, suspects);
    this.#suspects = suspects;
    return collected;
  }

  async #sift(ids: readonly string[], suspects: Map<string, number>): Promise<number> {
    // First: what is not being written any more has come to its commit, which the database then knows.
    const written = await this.#holds.writtenAmong(ids);
    const finished = ids.filter((id) => !written.has(id));
    const named = new Set(finished.length > 0 ? await namedAmong(this.#db, finished) : []);
    const orphans = finished.filter((id) => !named.has(id) && this.#isCertain(id, suspects));
    if (orphans.length > 0) await this.#blobs.delete(orphans);
    return orphans.length;
  }

  /**
   * Where others write, a blob may be on its way to its commit whatever the age that the driver tells, which may
   * be that of its first octet. So it must have been without a name for a while.
   */
  #isCertain(id: string, suspects: Map<string, number>): boolean {
    if (!this.#db.shared) return true;
    const since = this.#suspects.get(id) ?? this.#now();
    if (since + LEAST_SUSPICION_MS <= this.#now()) return true;
    if (suspects.size < MAX_SUSPECTS) suspects.set(id, since);
    return false;
  }
}
