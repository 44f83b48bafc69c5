/**
 * Lists: stretches of the keys in their order. With a delimiter the walk jumps over each group to the
 * first key behind it, so a page costs what it shows, however many keys lie in its groups.
 */
import {
  bytes,
  type Column,
  type Database,
  integer,
  maybe,
  type RowOf,
  statement,
  text,
  time,
} from "#db";
import { cursorAt, placeOf } from "./cursor.ts";
import { ObjectFault } from "./fault.ts";
import { behind, behindPrefix, checkText, later } from "./keys.ts";
import { MAX_PAGE, MAX_PAGE_METADATA } from "./limits.ts";
import type { Metadata } from "./metadata.ts";
import type { Bucket, ListOptions, ListPage, ObjectInfo } from "./model.ts";
import { info, infoOf } from "./object-rows.ts";
import { key, storageClass } from "./schema.ts";

export async function list(db: Database, bucket: Bucket, options: ListOptions): Promise<ListPage> {
  const { limit = MAX_PAGE, metadata = true, delimiter = "", prefix = "" } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new ObjectFault("bad-limit", `A page has from 1 to ${MAX_PAGE} entries, not ${limit}`);
  }
  const asked = {
    ...stretchOf(options),
    bucket: bucket.number,
    // One more than the page shows tells whether something remains.
    entries: limit + 1,
    metadata: metadata ? 1 : 0,
  };
  if (delimiter === "") return pageOf(await db.all(stretches[db.engine](asked)), limit, () => -1);
  checkText(delimiter);
  const walked = await db.all(
    walks[db.engine]({
      ...asked,
      delimiter: Buffer.from(delimiter),
      pastDelimiter: behindPrefix(Buffer.from(delimiter)),
      // Counted from 1, as SQL does.
      from: Buffer.byteLength(prefix) + 1,
      nul: Uint8Array.of(0),
    }),
  );
  walked.sort((one, other) => one.n - other.n);
  return pageOf(walked, limit, (key) => {
    const at = key.indexOf(delimiter, prefix.length);
    return at === -1 ? -1 : at + delimiter.length;
  });
}

/** Where the list begins, and the first place that it does not reach. */
function stretchOf({ prefix = "", startAfter = "", cursor = "" }: ListOptions) {
  checkText(prefix);
  checkText(startAfter);
  const begin = Buffer.from(prefix);
  let start: Uint8Array = begin;
  if (startAfter !== "") start = later(start, behind(Buffer.from(startAfter)));
  if (cursor !== "") start = later(start, placeOf(cursor));
  return { start, end: behindPrefix(begin) };
}

/** The engines' own words. */
interface Dialect {
  readonly bytes: string;
  /** A key, as the driver gives it at the least cost. */
  readonly shown: (key: string) => string;
  /** That a key of the bucket lies from one place to another, in words that every plan follows in order. */
  readonly within: (from: string, to: string) => string;
  /** The object of each row, if there is one; found by its key, one by one. */
  readonly leftJoin: (condition: string) => string;
  /** From 1; 0 when it is not there. */
  readonly position: (needle: string, hay: string) => string;
}

const dialects: Record<Database["engine"], Dialect> = {
  sqlite: {
    bytes: "BLOB",
    // A text takes half as long as octets that become one.
    shown: (key) => `CAST(${key} AS TEXT)`,
    within: (from, to) => `bucket = :bucket AND key >= ${from} AND key < ${to}`,
    leftJoin: (condition) => `LEFT JOIN objects ON ${condition}`,
    // Of the empty key SQLite's substr makes NULL.
    position: (needle, hay) => `coalesce(instr(${hay}, ${needle}), 0)`,
  },
  postgres: {
    bytes: "BYTEA",
    shown: (key) => key, // Its text has no NUL.
    // With the bucket apart, a planner that has not heard of its keys takes them for few: it reads all and sorts.
    within: (from, to) =>
      `(bucket, key) >= (:bucket, ${from}) AND (bucket, key) < (:bucket, ${to})`,
    // For the same reason: it would read the bucket into a hash table.
    leftJoin: (condition) =>
      `LEFT JOIN LATERAL (SELECT * FROM objects WHERE ${condition} LIMIT 1) object ON TRUE`,
    position: (needle, hay) => `position(${needle} IN ${hay})`,
  },
};

const shownKey: Column<string> = {
  ...key,
  decode: (value) => (typeof value === "string" ? value : key.decode(value)),
};
const INFO = `version, size, etag, uploaded_at, storage_class, part_count, checksums, encryption,
  CASE WHEN :metadata = 1 THEN metadata END`;
const takes = { bucket: integer, start: bytes, end: bytes, entries: integer, metadata: integer };
const gives = {
  ...info,
  key: shownKey,
  /** Still packed: its length counts. */
  metadata: maybe(text),
};

const stretches = eachOf(({ shown, within }) =>
  statement({
    sql: `SELECT ${shown("key")}, ${INFO} FROM objects
          WHERE ${within(":start", ":end")} ORDER BY bucket, key LIMIT :entries`,
    takes,
    gives,
  }),
);
type Row = RowOf<(typeof stretches)["sqlite"]>;

/** Of a group only a key that lies in it. */
type WalkedRow = Row | RowOf<(typeof walks)["sqlite"]>;

/**
 * From each key that was found to the first one behind it, or behind its group. All in one statement: it
 * sees one moment, and travels to the database once.
 */
const walks = eachOf((dialect) => {
  const first = (from: string) =>
    `(SELECT key FROM objects WHERE ${dialect.within(from, ":end")}
      ORDER BY bucket, key LIMIT 1)`;
  const position = dialect.position(":delimiter", "substr(found, :from)");
  const next = `CASE ${position} WHEN 0 THEN CAST(found || :nul AS ${dialect.bytes})
    ELSE CAST(substr(found, 1, :from + ${position} - 2) || :pastDelimiter AS ${dialect.bytes}) END`;
  return statement({
    sql: `WITH RECURSIVE walk (n, found) AS (
            SELECT 1, ${first(":start")}
            UNION ALL
            SELECT n + 1, ${first(next)} FROM walk WHERE found IS NOT NULL AND n < :entries
          )
          SELECT n, ${dialect.shown("found")}, ${INFO} FROM walk
          ${dialect.leftJoin(`bucket = :bucket AND key = CASE ${position} WHEN 0 THEN found END`)}
          WHERE found IS NOT NULL`,
    takes: { ...takes, delimiter: bytes, pastDelimiter: bytes, from: integer, nul: bytes },
    gives: {
      // They come in this order, though SQL does not promise it; asked to, SQLite would sort whole rows.
      n: integer,
      ...gives,
      version: maybe(text),
      size: maybe(integer),
      etag: maybe(text),
      uploadedAt: maybe(time),
      storageClass: maybe(storageClass),
    },
  });
});

/** `groupEnd` tells where the group's name ends within a key; -1 for a key that is in none. */
function pageOf(
  rows: readonly WalkedRow[],
  limit: number,
  groupEnd: (key: string) => number,
): ListPage {
  const objects: ObjectInfo[] = [];
  const prefixes: string[] = [];
  let metadataSize = 0;
  for (const [i, row] of rows.entries()) {
    metadataSize += row.metadata?.length ?? 0;
    if (i === limit || (i > 0 && metadataSize > MAX_PAGE_METADATA)) {
      const last = rows[i - 1]!.key;
      return { objects, prefixes, cursor: cursorAt(placeBehind(last, groupEnd(last))) };
    }
    if (isObject(row)) objects.push(infoOf(row, unpacked(row.metadata)));
    else prefixes.push(row.key.slice(0, groupEnd(row.key)));
  }
  return { objects, prefixes, cursor: null };
}

function isObject(row: WalkedRow): row is Row {
  return row.version !== null;
}

function placeBehind(key: string, groupEnd: number): Uint8Array {
  return groupEnd === -1
    ? behind(Buffer.from(key))
    : behindPrefix(Buffer.from(key.slice(0, groupEnd)));
}

function unpacked(metadata: string | null): Metadata {
  return metadata === null ? {} : (JSON.parse(metadata) as Metadata);
}

function eachOf<S>(make: (dialect: Dialect) => S): Record<Database["engine"], S> {
  return { sqlite: make(dialects.sqlite), postgres: make(dialects.postgres) };
}
