/** The rows of a bucket's settings. */
import { integer, json, statement, word } from "#db";
import type { SettingName } from "./names.ts";

const name = word<SettingName>();

export const settingsOfBucket = statement({
  sql: "SELECT name, value, length(value) FROM bucket_settings WHERE bucket = :bucket",
  takes: { bucket: integer },
  gives: { name, value: json<never>(), characters: integer },
});
export const moveRevision = statement({
  sql: "UPDATE buckets SET settings_revision = settings_revision + 1 WHERE number = :bucket",
  takes: { bucket: integer },
});
export const setSetting = statement({
  sql: `INSERT INTO bucket_settings (bucket, name, value, revision)
        SELECT number, :name, :value, settings_revision FROM buckets WHERE number = :bucket
        ON CONFLICT (bucket, name) DO UPDATE SET value = excluded.value, revision = excluded.revision`,
  takes: { bucket: integer, name, value: json<unknown>() },
});
export const removeSetting = statement({
  sql: "DELETE FROM bucket_settings WHERE bucket = :bucket AND name = :name",
  takes: { bucket: integer, name },
});
