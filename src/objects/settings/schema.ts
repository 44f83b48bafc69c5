/** The tables of what a bucket is set to. */
import type { Migration } from "#db";

export const settingsMigration: Migration = {
  part: "objects",
  number: 3,
  sql: ({ text, integer, bytes, addColumn }) => [
    // Moves with every change of a setting, so that what was read of them is known to be still right.
    `ALTER TABLE buckets ${addColumn} settings_revision ${integer} NOT NULL DEFAULT 0`,
    `CREATE TABLE IF NOT EXISTS bucket_settings (
        bucket ${integer} NOT NULL REFERENCES buckets (number) ON DELETE CASCADE,
        name ${text} NOT NULL,
        value ${text} NOT NULL,
        revision ${integer} NOT NULL,
        PRIMARY KEY (bucket, name)
      )`,
    /*
     * How far the rules of a bucket are carried out: those of a revision, for a day since 1970. Until it is
     * done, `place` is where the walk goes on.
     */
    `CREATE TABLE IF NOT EXISTS lifecycle_walks (
        bucket ${integer} PRIMARY KEY REFERENCES buckets (number) ON DELETE CASCADE,
        revision ${integer} NOT NULL,
        day ${integer} NOT NULL,
        place ${bytes}
      )`,
  ],
};
