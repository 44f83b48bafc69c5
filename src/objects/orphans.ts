/**
 * Blobs that nothing names: written by a put that never came to its commit. What a row, a part or the
 * garbage names is never touched, nor what this process is writing.
 */
import { type Database, statement } from "#db";
import type { BlobDriver } from "./driver.ts";
import type { Holds } from "./holds.ts";
import { id } from "./schema.ts";

/** Another node's put that takes longer from its blob to its commit than this has failed. */
const LEAST_AGE_MS = 86_400_000;

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
  readonly holds: Holds;
  readonly now: () => number;
}

/** Deletes orphans and tells how many there were. Goes on while `mayGoOn`. */
export async function collectOrphans(
  { db, blobs, holds, now }: OrphanOptions,
  mayGoOn: () => Promise<boolean>,
): Promise<number> {
  /*
   * Where nobody else writes, what no put of ours is busy with is finished: committed, and then the
   * database names it, which is asked after; or failed.
   */
  const before = db.shared ? now() - LEAST_AGE_MS : Infinity;
  let collected = 0;
  let batch: string[] = [];
  const sift = async () => {
    const candidates = batch.filter((one) => !holds.isWriting(one));
    batch = [];
    if (candidates.length === 0) return;
    const known = new Set(await namedAmong(db, candidates));
    const orphans = candidates.filter((one) => !known.has(one));
    if (orphans.length > 0) await blobs.delete(orphans);
    collected += orphans.length;
  };
  for await (const { id, writtenAt } of blobs.list()) {
    if (writtenAt > before || !/^[0-9a-f]{32}$/.test(id)) continue;
    if (batch.push(id) < BATCH) continue;
    await sift();
    if (!(await mayGoOn())) return collected;
  }
  await sift();
  return collected;
}
