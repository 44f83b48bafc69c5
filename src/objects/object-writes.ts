/**
 * How objects are put and removed: each with its body, and with what it held before made garbage. The first
 * step of each holds the row; the next ones see what is there by then, whatever other nodes did until it was
 * free, and nothing comes between.
 */
import {
  type Bound,
  bytes,
  type Database,
  integer,
  maybe,
  mustChangeOne,
  statement,
  text,
  time,
} from "#db";
import { randomId, timedId } from "#kit/random.ts";
import type { Metadata } from "./metadata.ts";
import type { Bucket } from "./model.ts";
import { content, INFO, info, type ObjectRow } from "./object-rows.ts";
import { id, key, storageClass } from "./schema.ts";

/** Stores the object, whatever was there. */
export function put({ engine }: Database, row: ObjectRow): Bound[] {
  const values = { ...row, slot: newSlot(row) };
  return isOneStatement(engine, row) ? [putWhole(values)] : [putObject(values), ...follow(row)];
}

/** Stores the object if what is there is still what was seen: a version, or nothing. */
export function putAfter({ engine }: Database, row: ObjectRow, seen: string | null): Bound[] {
  const values = { ...row, slot: newSlot(row), seen: seen ?? "" };
  if (isOneStatement(engine, row)) {
    return [mustChangeOne(seen === null ? addWhole(values) : replaceWhole(values))];
  }
  return [mustChangeOne(seen === null ? addObject(values) : replaceObject(values)), ...follow(row)];
}

/** For an object that is new; one that is replaced keeps its own. */
function newSlot({ uploadedAt }: ObjectRow): string {
  return timedId(uploadedAt);
}

/**
 * To PostgreSQL each step is a trip, and a small put costs little else. A statement sees what was there when
 * it began, so it can add a body or replace it, but not find one to delete that came while it waited.
 */
function isOneStatement(engine: Database["engine"], { body }: ObjectRow): boolean {
  return engine === "postgres" && body !== null;
}

const row = { bucket: integer, ...info, ...content };
const slotted = { ...row, slot: id };
const seen = { ...row, seen: text };
const body = maybe(bytes);
const INSERT = `INSERT INTO objects (bucket, slot, ${INFO}, blob) VALUES (:bucket, :slot, :key, :version, :size,
  :etag, :uploadedAt, :storageClass, :partCount, :checksums, :encryption, :metadata, :blob)`;
const SET = `version = :version, size = :size, etag = :etag, uploaded_at = :uploadedAt,
  storage_class = :storageClass, part_count = :partCount, checksums = :checksums, encryption = :encryption,
  metadata = :metadata, blob = :blob, previous_part_count = objects.part_count, previous_blob = objects.blob`;
const PUT = `${INSERT} ON CONFLICT (bucket, key) DO UPDATE SET ${SET}`;
const ADD = `${INSERT} ON CONFLICT (bucket, key) DO NOTHING`;
const REPLACE = `UPDATE objects SET ${SET} WHERE bucket = :bucket AND key = :key AND version = :seen`;

const HERE = "objects WHERE bucket = :bucket AND key = :key";
const OVER = "ON CONFLICT (slot) DO UPDATE SET body = excluded.body";
const discard = (since: string, from: string) =>
  `INSERT INTO blob_garbage (id, has_parts, since)
   SELECT previous_blob, CASE WHEN previous_part_count IS NULL THEN 0 ELSE 1 END, ${since}
   FROM ${from} AND previous_blob IS NOT NULL`;
const whole = (sql: string) =>
  `WITH stored AS (${sql} RETURNING slot, previous_part_count, previous_blob),
     kept AS (INSERT INTO bodies (slot, body) SELECT slot, :body FROM stored ${OVER}),
     discarded AS (${discard(":uploadedAt", "stored WHERE TRUE")})
   SELECT 1 FROM stored`;

const putObject = statement({ sql: PUT, takes: slotted });
const addObject = statement({ sql: ADD, takes: slotted });
const replaceObject = statement({ sql: REPLACE, takes: seen });
const putWhole = statement({ sql: whole(PUT), takes: { ...slotted, body } });
const addWhole = statement({ sql: whole(ADD), takes: { ...slotted, body } });
const replaceWhole = statement({ sql: whole(REPLACE), takes: { ...seen, body } });

const which = { bucket: integer, key };
const keepBody = statement({
  sql: `INSERT INTO bodies (slot, body) VALUES ((SELECT slot FROM ${HERE}), :body) ${OVER}`,
  takes: { ...which, body },
});
const dropBody = statement({
  sql: `DELETE FROM bodies WHERE slot = (SELECT slot FROM ${HERE})`,
  takes: which,
});
const discardPrevious = statement({
  sql: discard(":uploadedAt", HERE),
  takes: { ...which, uploadedAt: time },
});

/**
 * The body goes to its slot, and what the write replaced to the garbage: the last step changes as many rows. It
 * does not return them, for a put without garbage would pay half as much again for that.
 */
function follow(row: ObjectRow): Bound[] {
  return [row.body === null ? dropBody(row) : keepBody(row), discardPrevious(row)];
}

const holdVersion = statement({
  sql: "UPDATE objects SET version = :seen WHERE bucket = :bucket AND key = :key AND version = :seen",
  takes: { ...which, seen: text },
});
/** Removes an object if it is still the version that was seen. */
export function removeAfter(
  bucket: Bucket,
  key: string,
  seen: string,
  now: number,
  whenMarked: WhenMarked,
): Bound[] {
  const held = holdVersion({ bucket: bucket.number, key, seen });
  return [mustChangeOne(held), ...remove(bucket, [key], now, whenMarked)];
}

const setMetadata = statement({
  sql: `UPDATE objects SET metadata = :metadata
        WHERE bucket = :bucket AND key = :key AND version = :seen`,
  takes: { ...which, seen: text, metadata: info.metadata },
});
/** Gives a version that was seen other metadata. It stays that version: its octets are the same. */
export function describe(
  bucket: Bucket,
  key: string,
  seen: string,
  metadata: Metadata | null,
): Bound {
  return mustChangeOne(setMetadata({ bucket: bucket.number, key, seen, metadata }));
}

/** Gives a version another storage class, if it is still there. */
export const setStorageClass = statement({
  sql: `UPDATE objects SET storage_class = :storageClass
        WHERE bucket = :bucket AND key = :key AND version = :version`,
  takes: { ...which, version: text, storageClass },
});

/** Steps to be done when the rows of these keys have the mark as their version. */
type WhenMarked = (keys: readonly string[], mark: string) => readonly Bound[];

/** Removes objects. The first step marks the rows; one that another node adds after it stays. */
export function remove(
  bucket: Bucket,
  keys: readonly string[],
  now: number,
  whenMarked: WhenMarked,
): Bound[] {
  const { size, steps } = keys.length === 1 ? removeOne : removeMany;
  const all: Bound[] = [];
  for (let at = 0; at < keys.length; at += size) {
    all.push(...steps(bucket.number, keys.slice(at, at + size), now, whenMarked));
  }
  return all;
}

/** Keys of one set of steps. */
export const REMOVED_AT_ONCE = 50;

/** For so many keys at a time: a thousand keys are not to be thousands of trips to the database. */
function removalOf(size: number) {
  const names = Array.from({ length: size }, (_, i) => `key${i}`);
  const takes = {
    bucket: integer,
    mark: text,
    ...Object.fromEntries(names.map((name) => [name, key])),
  };
  const where = `WHERE bucket = :bucket AND key IN (${names.map((name) => `:${name}`).join()})`;
  const marked = `objects ${where} AND version = :mark`;
  const mark = statement({
    sql: `UPDATE objects SET version = :mark, previous_part_count = part_count, previous_blob = blob
          ${where}`,
    takes,
  });
  const dropBodies = statement({
    sql: `DELETE FROM bodies WHERE slot IN (SELECT slot FROM ${marked})`,
    takes,
  });
  const discardMarked = statement({
    sql: `${discard(":now", marked)} RETURNING id`,
    takes: { ...takes, now: time },
    gives: { id },
  });
  const remove = statement({ sql: `DELETE FROM ${marked}`, takes });
  const steps = (
    bucket: number,
    keys: readonly string[],
    now: number,
    whenMarked: WhenMarked,
  ): Bound[] => {
    const named = names.map((name, i) => [name, keys[i] ?? keys[0]!] as const);
    const values = { bucket, mark: randomId(), now, ...Object.fromEntries(named) };
    const more = whenMarked(keys, values.mark);
    return [mark(values), ...more, dropBodies(values), discardMarked(values), remove(values)];
  };
  return { size, steps };
}

const removeOne = removalOf(1);
const removeMany = removalOf(REMOVED_AT_ONCE);
