/** The rows of objects: statements that read and write them, and what a row says of its object. */
import {
  type Bound,
  bytes,
  integer,
  json,
  maybe,
  mustChangeOne,
  type RowOf,
  statement,
  text,
  time,
} from "#db";
import { randomId } from "#kit/random.ts";
import type { Metadata } from "./metadata.ts";
import type { Bucket, Checksums, ObjectInfo } from "./model.ts";
import { id, key, storageClass } from "./schema.ts";

const info = {
  key,
  version: text,
  size: integer,
  etag: text,
  uploadedAt: time,
  storageClass,
  checksums: maybe(json<Checksums>()),
  metadata: maybe(json<Metadata>()),
};
export const INFO = "key, version, size, etag, uploaded_at, storage_class, checksums, metadata";

const content = { partCount: maybe(integer), blob: maybe(id) };

export const objectInfo = statement({
  sql: `SELECT ${INFO} FROM objects WHERE bucket = :bucket AND key = :key`,
  takes: { bucket: integer, key },
  gives: info,
});
export const wholeObject = statement({
  sql: `SELECT ${INFO}, part_count, blob, body FROM objects
        LEFT JOIN bodies ON bodies.slot = objects.slot WHERE bucket = :bucket AND key = :key`,
  takes: { bucket: integer, key },
  gives: { ...info, ...content, body: maybe(bytes) },
});

export type InfoRow = RowOf<typeof objectInfo>;
export type ObjectRow = RowOf<typeof wholeObject> & { readonly bucket: number };

/** Of an object made of parts the tag says how many, and there is no hash of the whole. */
const MD5_DIGITS = 32;

export function infoOf(
  row: Omit<InfoRow, "metadata">,
  { http = {}, custom = {} }: Metadata,
): ObjectInfo {
  const { key, version, size, etag, uploadedAt, storageClass } = row;
  const checksums = etag.length === MD5_DIGITS ? { md5: etag, ...row.checksums } : {};
  return { key, version, size, etag, uploadedAt, http, custom, checksums, storageClass };
}

const whole = { bucket: integer, ...info, ...content };
const INSERT = `INSERT INTO objects (bucket, slot, ${INFO}, part_count, blob) VALUES (:bucket, :slot, :key,
  :version, :size, :etag, :uploadedAt, :storageClass, :checksums, :metadata, :partCount, :blob)`;
/** The slot stays: the body of the same size or another goes where the last one was. */
const SET = `version = :version, size = :size, etag = :etag, uploaded_at = :uploadedAt,
  storage_class = :storageClass, checksums = :checksums, metadata = :metadata, part_count = :partCount,
  blob = :blob, previous_part_count = objects.part_count, previous_blob = objects.blob`;

const putObject = statement({
  sql: `${INSERT} ON CONFLICT (bucket, key) DO UPDATE SET ${SET}`,
  takes: { ...whole, slot: id },
});
const addObject = statement({
  sql: `${INSERT} ON CONFLICT (bucket, key) DO NOTHING`,
  takes: { ...whole, slot: id },
});
const replaceObject = statement({
  sql: `UPDATE objects SET ${SET} WHERE bucket = :bucket AND key = :key AND version = :seen`,
  takes: { ...whole, seen: text },
});
const keepBody = statement({
  sql: `INSERT INTO bodies (slot, body)
        SELECT slot, :body FROM objects WHERE bucket = :bucket AND key = :key
        ON CONFLICT (slot) DO UPDATE SET body = excluded.body`,
  takes: { bucket: integer, key, body: bytes },
});
const dropBody = statement({
  sql: `DELETE FROM bodies
        WHERE slot = (SELECT slot FROM objects WHERE bucket = :bucket AND key = :key)`,
  takes: { bucket: integer, key },
});
const DISCARD = `INSERT INTO blob_garbage (id, has_parts, since)
  SELECT previous_blob, CASE WHEN previous_part_count IS NULL THEN 0 ELSE 1 END, :now FROM objects`;
const discardPrevious = statement({
  sql: `${DISCARD} WHERE bucket = :bucket AND key = :key AND previous_blob IS NOT NULL RETURNING id`,
  takes: { bucket: integer, key, now: time },
  gives: { id },
});

/** Stores the object, whatever was there. */
export function put(row: ObjectRow): Bound[] {
  return [putObject({ ...row, slot: newSlot(row) }), ...follow(row)];
}

/** Stores the object if what is there is still what was seen: a version, or nothing. */
export function putAfter(row: ObjectRow, seen: string | null): Bound[] {
  const step =
    seen === null ? addObject({ ...row, slot: newSlot(row) }) : replaceObject({ ...row, seen });
  return [mustChangeOne(step), ...follow(row)];
}

/** Only used where there is no object yet. */
function newSlot({ uploadedAt }: ObjectRow): string {
  return uploadedAt.toString(16).padStart(12, "0") + randomId().slice(12);
}

/**
 * The body goes to its slot, and what the write replaced becomes garbage in the same commit. By then the
 * row is held: a write of another node comes before or after all of this.
 */
function follow({ bucket, key, body, uploadedAt }: ObjectRow): Bound[] {
  const which = { bucket, key };
  return [
    body === null || body.length === 0 ? dropBody(which) : keepBody({ ...which, body }),
    discardPrevious({ ...which, now: uploadedAt }),
  ];
}

/**
 * Removes objects; what they held becomes garbage. The first step marks the rows, and so holds them; a row
 * that another node adds after it has no mark, and stays.
 */
export function remove(bucket: Bucket, keys: readonly string[], now: number): Bound[] {
  const removal = keys.length === 1 ? removeOne : removeMany;
  const steps: Bound[] = [];
  for (let at = 0; at < keys.length; at += removal.size) {
    steps.push(...removal.steps(bucket.number, keys.slice(at, at + removal.size), now));
  }
  return steps;
}

const removeOne = removalOf(1);
const removeMany = removalOf(50);

/** For so many keys at a time: a thousand keys are not to be thousands of trips to the database. */
function removalOf(size: number) {
  const names = Array.from({ length: size }, (_, i) => `key${i}`);
  const takes = {
    bucket: integer,
    mark: text,
    ...Object.fromEntries(names.map((name) => [name, key])),
  };
  const where = `WHERE bucket = :bucket AND key IN (${names.map((name) => `:${name}`).join()})`;
  const mark = statement({
    sql: `UPDATE objects SET version = :mark, previous_part_count = part_count, previous_blob = blob
          ${where}`,
    takes,
  });
  const dropBodies = statement({
    sql: `DELETE FROM bodies WHERE slot IN (SELECT slot FROM objects ${where} AND version = :mark)`,
    takes,
  });
  const discard = statement({
    sql: `${DISCARD} ${where} AND version = :mark AND previous_blob IS NOT NULL RETURNING id`,
    takes: { ...takes, now: time },
    gives: { id },
  });
  const remove = statement({ sql: `DELETE FROM objects ${where} AND version = :mark`, takes });
  return {
    size,
    steps(bucket: number, keys: readonly string[], now: number): Bound[] {
      const named = names.map((name, i) => [name, keys[i] ?? keys[0]!] as const);
      const which = { bucket, mark: randomId(), ...Object.fromEntries(named) };
      return [mark(which), dropBodies(which), discard({ ...which, now }), remove(which)];
    },
  };
}
