/** The rows that tell how far the lifecycle of each bucket is carried out. */
import { integer, json, maybe, statement, text } from "#db";
import { key } from "../schema.ts";
import type { LifecycleRule } from "../settings/lifecycle.ts";

/** The next bucket whose rules are not carried out for that day, or not to the end. */
export const dueBucket = statement({
  sql: `SELECT s.bucket, b.name, s.value, s.revision, w.revision, w.day, w.place
        FROM bucket_settings s
        JOIN buckets b ON b.number = s.bucket
        LEFT JOIN lifecycle_walks w ON w.bucket = s.bucket
        WHERE s.name = 'lifecycle' AND s.bucket > :after
          AND (w.bucket IS NULL OR w.revision <> s.revision OR w.day < :day OR w.place IS NOT NULL)
        ORDER BY s.bucket LIMIT 1`,
  takes: { after: integer, day: integer },
  gives: {
    bucket: integer,
    name: text,
    rules: json<readonly LifecycleRule[]>(),
    revision: integer,
    walkedRevision: maybe(integer),
    walkedDay: maybe(integer),
    place: maybe(key),
  },
});

/** `place` is the last key that was seen to; null when it was the bucket's last. */
export const noteWalk = statement({
  sql: `INSERT INTO lifecycle_walks (bucket, revision, day, place)
        VALUES (:bucket, :revision, :day, :place)
        ON CONFLICT (bucket) DO UPDATE
        SET revision = excluded.revision, day = excluded.day, place = excluded.place`,
  takes: { bucket: integer, revision: integer, day: integer, place: maybe(key) },
});
