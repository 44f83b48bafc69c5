/** The tables of buckets, objects and uploads, and the kinds of column they have. */
import { bytes, type Column, type Migration } from "#db";
import { eventsMigration } from "./events/schema.ts";
import { STORAGE_CLASSES } from "./metadata.ts";
import type { StorageClass } from "./model.ts";
import { settingsMigration } from "./settings/schema.ts";

export const objectMigrations: readonly Migration[] = [
  {
    part: "objects",
    number: 1,
    sql: ({ text, integer, bytes, inKeyOrder }) => [
      `CREATE TABLE IF NOT EXISTS buckets (
        id ${text} PRIMARY KEY,
        number ${integer} NOT NULL UNIQUE,
        account_id ${text} NOT NULL REFERENCES accounts (id),
        name ${text} NOT NULL UNIQUE,
        storage_class ${integer} NOT NULL,
        created_at ${integer} NOT NULL
      )`,
      `CREATE INDEX IF NOT EXISTS buckets_by_account ON buckets (account_id, name)`,
      // The last number given to a bucket. None is given twice: who still holds a bucket that is gone
      // must not write into another.
      `CREATE TABLE IF NOT EXISTS bucket_numbers (id ${integer} PRIMARY KEY, last ${integer} NOT NULL)`,
      `INSERT INTO bucket_numbers (id, last) VALUES (1, 0) ON CONFLICT (id) DO NOTHING`,
      /*
       * An object's octets are the body of its slot, or the blob of that id; with a `part_count`, the parts
       * of the upload of that id. `previous_…` is what the last write replaced: it lets the same commit
       * hand it to the garbage, without a read before. A list reads rows that lie side by side.
       */
      `CREATE TABLE IF NOT EXISTS objects (
        bucket ${integer} NOT NULL REFERENCES buckets (number),
        key ${bytes} NOT NULL,
        slot ${bytes} NOT NULL,
        version ${text} NOT NULL,
        size ${integer} NOT NULL,
        etag ${text} NOT NULL,
        uploaded_at ${integer} NOT NULL,
        storage_class ${integer} NOT NULL,
        part_count ${integer},
        blob ${bytes},
        previous_part_count ${integer},
        previous_blob ${bytes},
        checksums ${text},
        metadata ${text},
        PRIMARY KEY (bucket, key)
      ) ${inKeyOrder}`,
      `CREATE INDEX IF NOT EXISTS objects_by_blob ON objects (blob) WHERE blob IS NOT NULL`,
      // Small values. Their slots grow with time, so that new ones share the pages at the end.
      `CREATE TABLE IF NOT EXISTS bodies (slot ${bytes} PRIMARY KEY, body ${bytes} NOT NULL)`,
      // What is finished stays for a while, so that it can be told from what never was.
      `CREATE TABLE IF NOT EXISTS uploads (
        id ${bytes} PRIMARY KEY,
        bucket ${integer} NOT NULL REFERENCES buckets (number),
        key ${bytes} NOT NULL,
        is_open ${integer} NOT NULL,
        revision ${integer} NOT NULL,
        storage_class ${integer} NOT NULL,
        metadata ${text},
        created_at ${integer} NOT NULL
      )`,
      `CREATE INDEX IF NOT EXISTS uploads_by_key ON uploads (bucket, key, id)`,
      `CREATE INDEX IF NOT EXISTS uploads_by_time ON uploads (created_at)`,
      // The parts of an upload stay where they are when it becomes an object, and get their `start` in it.
      `CREATE TABLE IF NOT EXISTS parts (
        upload ${bytes} NOT NULL,
        number ${integer} NOT NULL,
        start ${integer} NOT NULL,
        size ${integer} NOT NULL,
        md5 ${text} NOT NULL,
        uploaded_at ${integer} NOT NULL,
        blob ${bytes},
        previous_blob ${bytes},
        body ${bytes},
        PRIMARY KEY (upload, number)
      )`,
      `CREATE INDEX IF NOT EXISTS parts_by_blob ON parts (blob) WHERE blob IS NOT NULL`,
      // What nothing names any more and is to be deleted: a blob, or all parts of an upload.
      `CREATE TABLE IF NOT EXISTS blob_garbage (
        id ${bytes} PRIMARY KEY,
        has_parts ${integer} NOT NULL,
        since ${integer} NOT NULL
      )`,
    ],
  },
  {
    part: "objects",
    number: 2,
    sql: ({ text, bytes, addColumn }) => [
      // How the octets are encrypted with a key of the caller's; those of a part begin at an `iv` of its own.
      `ALTER TABLE objects ${addColumn} encryption ${text}`,
      `ALTER TABLE uploads ${addColumn} encryption ${text}`,
      `ALTER TABLE parts ${addColumn} iv ${bytes}`,
      `ALTER TABLE parts ${addColumn} checksums ${text}`,
      `ALTER TABLE uploads ${addColumn} checksum ${text}`,
      // The object that it became: for who asks again because the answer was lost.
      `ALTER TABLE uploads ${addColumn} completed ${text}`,
      `CREATE INDEX IF NOT EXISTS open_uploads ON uploads (bucket, key, id) WHERE is_open = 1`,
    ],
  },
  settingsMigration,
  eventsMigration,
];

/** 32 hex digits kept as 16 octets. */
export const id: Column<string> = {
  encode: (value) => Buffer.from(value, "hex"),
  decode: (value) => bytes.decode(value).toHex(),
};

/** Text kept as its UTF-8: in the order of lists on every engine, and with NUL where text has none. */
export const key: Column<string> = {
  encode: (value) => Buffer.from(value),
  decode: (value) => {
    const { buffer, byteOffset, byteLength } = bytes.decode(value);
    return Buffer.from(buffer, byteOffset, byteLength).toString();
  },
};

export const storageClass: Column<StorageClass> = {
  encode: (value) => STORAGE_CLASSES.indexOf(value),
  decode: (value) => STORAGE_CLASSES[Number(value)]!,
};

export const flag: Column<boolean> = {
  encode: (value) => (value ? 1 : 0),
  decode: (value) => Number(value) === 1,
};
