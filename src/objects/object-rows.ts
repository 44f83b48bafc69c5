/** The rows of objects: how they are read, and what a row says of its object. */
import { bytes, integer, json, maybe, type RowOf, statement, text, time } from "#db";
import type { Encryption } from "./encryption.ts";
import type { Metadata } from "./metadata.ts";
import type { Checksums, ObjectInfo } from "./model.ts";
import { id, key, storageClass } from "./schema.ts";

/** Beside MD5; of an object made of parts they may be of the parts' own. */
export type KeptChecksums = Checksums & { readonly isComposite?: true };

export const info = {
  key,
  version: text,
  size: integer,
  etag: text,
  uploadedAt: time,
  storageClass,
  partCount: maybe(integer),
  checksums: maybe(json<KeptChecksums>()),
  encryption: maybe(json<Encryption>()),
  metadata: maybe(json<Metadata>()),
};
export const INFO = `key, version, size, etag, uploaded_at, storage_class, part_count, checksums, encryption,
  metadata`;

export const content = { blob: maybe(id) };

export const objectInfo = statement({
  sql: `SELECT ${INFO} FROM objects WHERE bucket = :bucket AND key = :key`,
  takes: { bucket: integer, key },
  gives: info,
});
export const wholeObject = statement({
  sql: `SELECT ${INFO}, blob, body FROM objects
        LEFT JOIN bodies ON bodies.slot = objects.slot AND blob IS NULL WHERE bucket = :bucket AND key = :key`,
  takes: { bucket: integer, key },
  gives: { ...info, ...content, body: maybe(bytes) },
});

export type InfoRow = RowOf<typeof objectInfo>;
export type ObjectRow = RowOf<typeof wholeObject> & { readonly bucket: number };

const NO_TAGS = {};

export function infoOf(
  row: Omit<InfoRow, "metadata">,
  { http = {}, custom = {}, tags = NO_TAGS }: Metadata,
): ObjectInfo {
  const { key, version, size, etag, uploadedAt, storageClass, partCount, encryption } = row;
  const md5 = partCount === null && encryption === null ? { md5: etag } : {};
  const { checksums, checksumType } = row.checksums === null ? NO_CHECKSUMS : shown(row.checksums);
  return {
    key,
    version,
    size,
    etag,
    uploadedAt,
    http,
    custom,
    checksums: checksums === null ? md5 : { ...md5, ...checksums },
    checksumType,
    storageClass,
    tags,
    partCount,
    encryption: encryption && { keyMd5: encryption.keyMd5 },
  };
}

const NO_CHECKSUMS = { checksums: null, checksumType: null } as const;

function shown({ isComposite, ...checksums }: KeptChecksums) {
  return { checksums, checksumType: isComposite === true ? "composite" : "full" } as const;
}
