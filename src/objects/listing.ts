/**
 * Lists: stretches of the keys in their order. With a delimiter the walk jumps over each group to the
 * first key behind it, so a page costs what it shows, however many keys lie in its groups.
 */
import { bytes, type Database, integer, json, maybe, type RowOf, statement, text, time } from "#db";
import { cursorAt, placeOf } from "./cursor.ts";
import { ObjectFault } from "./fault.ts";
import { behind, behindPrefix, checkText, later } from "./keys.ts";
import { MAX_PAGE, MAX_PAGE_METADATA } from "./limits.ts";
import type { Metadata } from "./metadata.ts";
import type { Bucket, Checksums, ListOptions, ListPage, ObjectInfo } from "./model.ts";
import { infoOf } from "./object-rows.ts";
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
  if (delimiter === "") return pageOf(await db.all(stretch(asked)), limit, () => -1);
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

const INFO = `version, size, etag, uploaded_at, storage_class, checksums,
  CASE WHEN :metadata = 1 THEN metadata END`;
const takes = { bucket: integer, start: bytes, end: bytes, entries: integer, metadata: integer };
const gives = {
  key,
  version: text,
  size: integer,
  etag: text,
  uploadedAt: time,
  storageClass,
  checksums: maybe(json<Checksums>()),
  /** Still packed: its length counts. */
  metadata: maybe(text),
};

const stretch = statement({
  sql: `SELECT key, ${INFO} FROM objects
        WHERE bucket = :bucket AND key >= :start AND key < :end ORDER BY key LIMIT :entries`,
  takes,
  gives,
});
type Row = RowOf<typeof stretch>;

/** Of a group only a key that lies in it. */
type WalkedRow = Row | RowOf<(typeof walks)["sqlite"]>;

/**
 * From each key that was found to the first one behind it, or behind its group. All in one statement: it
 * sees one moment, and travels to the database once.
 */
function walk(bytesType: string, positionOf: (needle: string, hay: string) => string) {
  const first = (from: string) =>
    `(SELECT key FROM objects WHERE bucket = :bucket AND key >= ${from} AND key < :end
      ORDER BY key LIMIT 1)`;
  const position = positionOf(":delimiter", "substr(found, :from)");
  const next = `CASE ${position} WHEN 0 THEN CAST(found || :nul AS ${bytesType})
    ELSE CAST(substr(found, 1, :from + ${position} - 2) || :pastDelimiter AS ${bytesType}) END`;
  return statement({
    sql: `WITH RECURSIVE walk (n, found) AS (
            SELECT 1, ${first(":start")}
            UNION ALL
            SELECT n + 1, ${first(next)} FROM walk WHERE found IS NOT NULL AND n < :entries
          )
          SELECT found, ${INFO} FROM walk
          LEFT JOIN objects ON bucket = :bucket AND key = found AND ${position} = 0
          WHERE found IS NOT NULL ORDER BY n`,
    takes: { ...takes, delimiter: bytes, pastDelimiter: bytes, from: integer, nul: bytes },
    gives: {
      ...gives,
      version: maybe(text),
      size: maybe(integer),
      etag: maybe(text),
      uploadedAt: maybe(time),
      storageClass: maybe(storageClass),
    },
  });
}

const walks = {
  // Of the empty key SQLite's substr makes NULL.
  sqlite: walk("BLOB", (needle, hay) => `coalesce(instr(${hay}, ${needle}), 0)`),
  postgres: walk("BYTEA", (needle, hay) => `position(${needle} IN ${hay})`),
};

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
