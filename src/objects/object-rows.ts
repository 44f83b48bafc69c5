/** The rows of objects: how they are read, and what a row says of its object. */
import { bytes, integer, json, maybe, type RowOf, statement, text, time } from "#db";
import type { Metadata } from "./metadata.ts";
import type { Checksums, ObjectInfo } from "./model.ts";
import { id, key, storageClass } from "./schema.ts";

export const info = {
  key,
  version: text,
  size: integer,
  etag: text,
  uploadedAt: time,
  storageClass,
  checksums: maybe(json<Checksums>()),
  metadata: maybe(json<Metadata>()),
};
export const INFO = "key, version, size, etag, uploaded_at, storage_class, checksums, metadata";

export const content = { partCount: maybe(integer), blob: maybe(id) };

export const objectInfo = statement({
  sql: `SELECT ${INFO} FROM objects WHERE bucket = :bucket AND key = :key`,
  takes: { bucket: integer, key },
  gives: info,
});
export const wholeObject = statement({
  sql: `SELECT ${INFO}, part_count, blob, body FROM objects
        LEFT JOIN bodies ON bodies.slot = objects.slot AND blob IS NULL WHERE bucket = :bucket AND key = :key`,
  takes: { bucket: integer, key },
  gives: { ...info, ...content, body: maybe(bytes) },
});

export type InfoRow = RowOf<typeof objectInfo>;
export type ObjectRow = RowOf<typeof wholeObject> & { readonly bucket: number };

/** Of an object made of parts the tag says how many, and there is no hash of the whole. */
const MD5_DIGITS = 32;

export function infoOf(
  row: Omit<InfoRow, "metadata">,
  { http = {}, custom = {} }: Metadata,
): ObjectInfo {
  const { key, version, size, etag, uploadedAt, storageClass } = row;
  const checksums = etag.length === MD5_DIGITS ? { md5: etag, ...row.checksums } : {};
  return { key, version, size, etag, uploadedAt, http, custom, checksums, storageClass };
}
