/** The rows of notifications. */
import { bytes, integer, json, maybe, type RowOf, statement, text, time } from "#db";
import { flag, id, key } from "../schema.ts";
import type { Target } from "./model.ts";

const given = {
  description: text,
  onCreate: flag,
  onDelete: flag,
  prefix: key,
  suffix: key,
  target: json<Target>(),
  secret: maybe(bytes),
  modifiedAt: time,
};
const GIVEN = "description, on_create, on_delete, prefix, suffix, target, secret, modified_at";
const row = {
  id,
  ...given,
  createdAt: time,
  failures: integer,
  dueAt: time,
  lastError: maybe(text),
  dropped: integer,
};
const ROW = `id, ${GIVEN}, created_at, failures, due_at, last_error, dropped`;

export const notificationsOfBucket = statement({
  sql: `SELECT ${ROW} FROM bucket_notifications WHERE bucket = :bucket ORDER BY created_at, id`,
  takes: { bucket: integer },
  gives: row,
});
export const notificationById = statement({
  sql: `SELECT ${ROW} FROM bucket_notifications WHERE id = :id AND bucket = :bucket`,
  takes: { id, bucket: integer },
  gives: row,
});
export type NotificationRow = RowOf<typeof notificationById>;

/** With the bucket, whose name and account messages tell. */
export const notificationToDeliver = statement({
  sql: `SELECT n.id, n.target, n.secret, n.failures, b.name, b.id, b.account_id
        FROM bucket_notifications n JOIN buckets b ON b.number = n.bucket WHERE n.id = :id`,
  takes: { id },
  gives: {
    id,
    target: json<Target>(),
    secret: maybe(bytes),
    failures: integer,
    bucket: text,
    bucketId: text,
    accountId: text,
  },
});

/** Those that have something to tell, and when that may be tried. */
export const notificationsWaiting = statement({
  sql: `SELECT id, due_at FROM bucket_notifications n WHERE EXISTS
          (SELECT 1 FROM bucket_events e WHERE e.notification = n.id AND e.is_failed = 0)`,
  gives: { id, dueAt: time },
});

export const addNotification = statement({
  sql: `INSERT INTO bucket_notifications (id, bucket, ${GIVEN}, created_at)
        VALUES (:id, :bucket, :description, :onCreate, :onDelete, :prefix, :suffix, :target, :secret,
          :modifiedAt, :modifiedAt)`,
  takes: { id, bucket: integer, ...given },
});
/** What it goes to may be another: it is tried at once. */
export const setNotification = statement({
  sql: `UPDATE bucket_notifications SET description = :description, on_create = :onCreate,
          on_delete = :onDelete, prefix = :prefix, suffix = :suffix, target = :target, secret = :secret,
          modified_at = :modifiedAt, failures = 0, due_at = 0, last_error = NULL
        WHERE id = :id AND bucket = :bucket`,
  takes: { id, bucket: integer, ...given },
});
export const removeNotification = statement({
  sql: "DELETE FROM bucket_notifications WHERE id = :id AND bucket = :bucket",
  takes: { id, bucket: integer },
});
export const countOneMore = statement({
  sql: `UPDATE buckets SET notifications = notifications + 1
        WHERE number = :bucket AND notifications < :most`,
  takes: { bucket: integer, most: integer },
});
export const countOneLess = statement({
  sql: "UPDATE buckets SET notifications = notifications - 1 WHERE number = :bucket",
  takes: { bucket: integer },
});

export const noteFailure = statement({
  sql: `UPDATE bucket_notifications SET failures = :failures, due_at = :dueAt, last_error = :lastError
        WHERE id = :id`,
  takes: { id, failures: integer, dueAt: time, lastError: text },
});
export const noteSuccess = statement({
  sql: "UPDATE bucket_notifications SET failures = 0, due_at = 0, last_error = NULL WHERE id = :id",
  takes: { id },
});
export const noteDropped = statement({
  sql: "UPDATE bucket_notifications SET dropped = dropped + :dropped WHERE id = :id",
  takes: { id, dropped: integer },
});
