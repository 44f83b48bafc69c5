/** The rows of events that are yet to be delivered, or were given up. */
import { integer, json, maybe, type RowOf, statement, text, time, word } from "#db";
import { flag, id, key } from "../schema.ts";
import type { EventAction, ObjectEvent } from "./model.ts";

const event = {
  number: integer,
  key,
  action: word<EventAction>(),
  size: maybe(integer),
  etag: maybe(text),
  copiedFrom: maybe(json<NonNullable<ObjectEvent["copiedFrom"]>>()),
  happenedAt: time,
  attempts: integer,
  dueAt: time,
  lastError: maybe(text),
};
const EVENT = `number, key, action, size, etag, copied_from, happened_at, attempts, due_at, last_error`;
const IN_LINE = "notification = :notification AND is_failed = :isFailed";
const inLine = { notification: id, isFailed: flag };

export const eventsBehind = statement({
  sql: `SELECT ${EVENT} FROM bucket_events WHERE ${IN_LINE} AND number > :after
        ORDER BY number LIMIT :limit`,
  takes: { ...inLine, after: integer, limit: integer },
  gives: event,
});
export type EventRow = RowOf<typeof eventsBehind>;

/** The first of a key that waits. */
export const firstOfKey = statement({
  sql: `SELECT number FROM bucket_events WHERE notification = :notification AND key = :key AND is_failed = 0
        ORDER BY number LIMIT 1`,
  takes: { notification: id, key },
  gives: { number: integer },
});
export const numberOfEvents = statement({
  sql: "SELECT is_failed, COUNT(*) FROM bucket_events WHERE notification = :notification GROUP BY is_failed",
  takes: { notification: id },
  gives: { isFailed: flag, events: integer },
});

export const removeEvent = statement({
  sql: "DELETE FROM bucket_events WHERE number = :number",
  takes: { number: integer },
});
export const noteAttempt = statement({
  sql: `UPDATE bucket_events SET attempts = :attempts, due_at = :dueAt, last_error = :lastError,
          is_failed = :isFailed WHERE number = :number`,
  takes: { number: integer, attempts: integer, dueAt: time, lastError: text, isFailed: flag },
});
export const retryFailed = statement({
  sql: `UPDATE bucket_events SET is_failed = 0, attempts = 0, due_at = 0
        WHERE notification = :notification AND is_failed = 1`,
  takes: { notification: id },
});
/** What waits is tried at once. */
export const hurry = statement({
  sql: "UPDATE bucket_events SET due_at = 0 WHERE notification = :notification AND due_at > 0",
  takes: { notification: id },
});

/** The newest of those that are too many. */
export const lastBeyond = statement({
  sql: `SELECT number FROM bucket_events WHERE ${IN_LINE} ORDER BY number DESC LIMIT 1 OFFSET :most`,
  takes: { ...inLine, most: integer },
  gives: { number: integer },
});
export const giveUpTo = statement({
  sql: `UPDATE bucket_events SET is_failed = 1, last_error = :lastError
        WHERE notification = :notification AND is_failed = 0 AND number <= :number`,
  takes: { notification: id, number: integer, lastError: text },
});
export const removeFailedTo = statement({
  sql: `DELETE FROM bucket_events WHERE notification = :notification AND is_failed = 1 AND number <= :number`,
  takes: { notification: id, number: integer },
});
export const removeFailed = statement({
  sql: "DELETE FROM bucket_events WHERE notification = :notification AND is_failed = 1",
  takes: { notification: id },
});
export const removeAllOf = statement({
  sql: "DELETE FROM bucket_events WHERE notification = :notification",
  takes: { notification: id },
});
/** Of rules that are gone with their bucket, or went while a write met them. */
export const sweepEvents = statement({
  sql: "DELETE FROM bucket_events WHERE notification NOT IN (SELECT id FROM bucket_notifications)",
});
