/** The rows of parts: those of uploads under way, and those that objects are made of. */
import { type Bound, bytes, integer, maybe, type RowOf, statement, text, time } from "#db";
import { id } from "./schema.ts";

/** In the order of their numbers, behind one of them; those that have some of the octets asked for. */
export const partsWithin = statement({
  sql: `SELECT number, start, size, blob, body FROM parts
        WHERE upload = :upload AND number > :after AND start < :end AND start + size > :offset
        ORDER BY number LIMIT :limit`,
  takes: { upload: id, after: integer, offset: integer, end: integer, limit: integer },
  gives: { number: integer, start: integer, size: integer, blob: maybe(id), body: maybe(bytes) },
});
export type PartRow = RowOf<typeof partsWithin>;

/** All there are, without their octets. */
export const partsOfUpload = statement({
  sql: "SELECT number, size, md5 FROM parts WHERE upload = :upload ORDER BY number",
  takes: { upload: id },
  gives: { number: integer, size: integer, md5: text },
});

const putPart = statement({
  sql: `INSERT INTO parts (upload, number, start, size, md5, uploaded_at, blob, body)
        VALUES (:upload, :number, 0, :size, :md5, :uploadedAt, :blob, :body)
        ON CONFLICT (upload, number) DO UPDATE SET size = :size, md5 = :md5,
        uploaded_at = :uploadedAt, blob = :blob, body = :body, previous_blob = parts.blob`,
  takes: {
    upload: id,
    number: integer,
    size: integer,
    md5: text,
    uploadedAt: time,
    blob: maybe(id),
    body: maybe(bytes),
  },
});
const discardPreviousPart = statement({
  sql: `INSERT INTO blob_garbage (id, has_parts, since) SELECT previous_blob, 0, :now
        FROM parts WHERE upload = :upload AND number = :number AND previous_blob IS NOT NULL`,
  takes: { upload: id, number: integer, now: time },
});

/** Keeps a part; the one of that number before it becomes garbage. */
export function put(row: Parameters<typeof putPart>[0]): readonly [Bound, Bound] {
  const { upload, number, uploadedAt } = row;
  return [putPart(row), discardPreviousPart({ upload, number, now: uploadedAt })];
}

const discardParts = statement({
  sql: `INSERT INTO blob_garbage (id, has_parts, since) SELECT blob, 0, :now
        FROM parts WHERE upload = :upload AND number BETWEEN :first AND :last AND blob IS NOT NULL`,
  takes: { upload: id, first: integer, last: integer, now: time },
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

/** Leaves an upload only the parts of these numbers, which must be sorted, and gives them their places. */
export function place(upload: string, numbers: readonly number[], now: number): Bound[] {
  const steps: Bound[] = [];
  let first = 0;
  for (const kept of [...numbers, Number.MAX_SAFE_INTEGER]) {
    const gap = { upload, first, last: kept - 1 };
    if (gap.last >= gap.first) steps.push(discardParts({ ...gap, now }), removeParts(gap));
    first = kept + 1;
  }
  return [...steps, placeParts({ upload })];
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
