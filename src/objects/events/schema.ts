/** The tables of who is told of a bucket's changes, and of what they have yet to be told. */
import type { Migration } from "#db";

export const eventsMigration: Migration = {
  part: "objects",
  number: 4,
  sql: ({ text, integer, bytes, addColumn, countedKey }) => [
    // How many rules there are, so that a write of a bucket that has none need not look.
    `ALTER TABLE buckets ${addColumn} notifications ${integer} NOT NULL DEFAULT 0`,
    // `failures` in a row, after which nothing is tried before `due_at`.
    `CREATE TABLE IF NOT EXISTS bucket_notifications (
        id ${bytes} PRIMARY KEY,
        bucket ${integer} NOT NULL REFERENCES buckets (number) ON DELETE CASCADE,
        description ${text} NOT NULL,
        on_create ${integer} NOT NULL,
        on_delete ${integer} NOT NULL,
        prefix ${bytes} NOT NULL,
        suffix ${bytes} NOT NULL,
        target ${text} NOT NULL,
        secret ${bytes},
        created_at ${integer} NOT NULL,
        modified_at ${integer} NOT NULL,
        failures ${integer} NOT NULL DEFAULT 0,
        due_at ${integer} NOT NULL DEFAULT 0,
        last_error ${text},
        dropped ${integer} NOT NULL DEFAULT 0
      )`,
    `CREATE INDEX IF NOT EXISTS bucket_notifications_by_bucket ON bucket_notifications (bucket)`,
    /*
     * One row for each event and rule, until it is delivered. Of a key a later one has a larger number. They do
     * not refer to the rule, or a write would fail that meets the rule's end; what is left over is swept.
     */
    `CREATE TABLE IF NOT EXISTS bucket_events (
        number ${countedKey},
        notification ${bytes} NOT NULL,
        is_failed ${integer} NOT NULL,
        key ${bytes} NOT NULL,
        action ${text} NOT NULL,
        size ${integer},
        etag ${text},
        copied_from ${text},
        happened_at ${integer} NOT NULL,
        attempts ${integer} NOT NULL,
        due_at ${integer} NOT NULL,
        last_error ${text}
      )`,
    `CREATE INDEX IF NOT EXISTS bucket_events_in_line ON bucket_events (notification, is_failed, number)`,
    `CREATE INDEX IF NOT EXISTS bucket_events_by_key ON bucket_events (notification, key, number)`,
  ],
};
