/** The rows of parts: those of uploads under way, and those that objects are made of. */
import { type Bound, bytes, integer, json, maybe, type RowOf, statement, text, time } from "#db";
import type { Checksums } from "./model.ts";
import { id } from "./schema.ts";

/** In the order of their numbers, behind one of them; those that have some of the octets asked for. */
export const partsWithin = statement({
  sql: `SELECT number, start, size, iv, blob, body FROM parts
        WHERE upload = :upload AND number > :after AND start < :end AND start + size > :offset
        ORDER BY number LIMIT :limit`,
  takes: { upload: id, after: integer, offset: integer, end: integer, limit: integer },
  gives: {
    number: integer,
    start: integer,
    size: integer,
    iv: maybe(id),
    blob: maybe(id),
    body: maybe(bytes),
  },
});
export type PartRow = RowOf<typeof partsWithin>;

const about = {
  number: integer,
  start: integer,
  size: integer,
  etag: text,
  uploadedAt: time,
  checksums: maybe(json<Checksums>()),
};
const ABOUT = "number, start, size, md5, uploaded_at, checksums";

/** All there are, without their octets. */
export const partsOfUpload = statement({
  sql: `SELECT ${ABOUT} FROM parts WHERE upload = :upload ORDER BY number`,
  takes: { upload: id },
  gives: about,
});
export type AboutPart = RowOf<typeof partsOfUpload>;

export const partsBehind = statement({
  sql: `SELECT ${ABOUT} FROM parts WHERE upload = :upload AND number > :after
        ORDER BY number LIMIT :limit`,
  takes: { upload: id, after: integer, limit: integer },
  gives: about,
});

/** Behind so many, whatever their numbers. */
export const partsFrom = statement({
  sql: `SELECT ${ABOUT} FROM parts WHERE upload = :upload ORDER BY number LIMIT :limit OFFSET :skipped`,
  takes: { upload: id, skipped: integer, limit: integer },
  gives: about,
});

const putPart = statement({
  sql: `INSERT INTO parts (upload, number, start, size, md5, uploaded_at, checksums, iv, blob, body)
        VALUES (:upload, :number, 0, :size, :etag, :uploadedAt, :checksums, :iv, :blob, :body)
        ON CONFLICT (upload, number) DO UPDATE SET size = :size, md5 = :etag, uploaded_at = :uploadedAt,
        checksums = :checksums, iv = :iv, blob = :blob, body = :body, previous_blob = parts.blob`,
  takes: {
    upload: id,
    number: integer,
    size: integer,
    etag: text,
    uploadedAt: time,
    checksums: about.checksums,
    iv: maybe(id),
    blob: maybe(id),
    body: maybe(bytes),
  },
});
const discardPreviousPart = statement({
  sql: `INSERT INTO blob_garbage (id, has_parts, since) SELECT previous_blob, 0, :now
        FROM parts WHERE upload = :upload AND number = :number AND previous_blob IS NOT NULL
        RETURNING id`,
  takes: { upload: id, number: integer, now: time },
  gives: { id },
});

/** Keeps a part; the one of that number before it becomes garbage. */
export function put(row: Parameters<typeof putPart>[0]): readonly [Bound, Bound] {
  const { upload, number, uploadedAt } = row;
  return [putPart(row), discardPreviousPart({ upload, number, now: uploadedAt })];
}

const discardParts = statement({
  sql: `INSERT INTO blob_garbage (id, has_parts, since) SELECT blob, 0, :now
        FROM parts WHERE upload = :upload AND number BETWEEN :first AND :last AND blob IS NOT NULL
        RETURNING id`,
  takes: { upload: id, first: integer, last: integer, now: time },
  gives: { id },
});
const removeParts = statement({
  sql: "DELETE FROM parts WHERE upload = :upload AND number BETWEEN :first AND :last",
  takes: { upload: id, first: integer, last: integer },
});
const placeParts = statement({
  sql: `UPDATE parts SET start = placed.start FROM (
          SELECT number AS place, CAST(SUM(size) OVER (ORDER BY number) AS BIGINT) - size AS start
          FROM parts WHERE upload = :upload
        ) AS placed WHERE upload = :upload AND number = placed.place`,
  takes: { upload: id },
});

/** Makes garbage of the parts that are not used, and gives the others their places in the object. */
export function place(
  upload: string,
  there: readonly { readonly number: number }[],
  used: ReadonlySet<number>,
  now: number,
): Bound[] {
  const runs = runsOf(there, ({ number }) => !used.has(number));
  const dropped = runs.flatMap(([first, last]) => {
    const which = { upload, first: first.number, last: last.number };
    return [discardParts({ ...which, now }), removeParts(which)];
  });
  return [...dropped, placeParts({ upload })];
}

/** The first and last item of each run in which all are so. */
function runsOf<T>(items: readonly T[], isSo: (item: T) => boolean): (readonly [T, T])[] {
  const runs: [T, T][] = [];
  let run: [T, T] | null = null;
  for (const item of items) {
    if (!isSo(item)) run = null;
    else if (run === null) runs.push((run = [item, item]));
    else run[1] = item;
  }
  return runs;
}

/** A stretch of the parts that are to be collected, and their removal. */
export const partsToCollect = statement({
  sql: `SELECT number, blob FROM parts WHERE upload = :upload ORDER BY number LIMIT :limit`,
  takes: { upload: id, limit: integer },
  gives: { number: integer, blob: maybe(id) },
});
export const removePartsUpTo = statement({
  sql: "DELETE FROM parts WHERE upload = :upload AND number <= :last",
  takes: { upload: id, last: integer },
});
