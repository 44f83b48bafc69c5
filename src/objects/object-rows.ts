/** The rows of objects: how they are read, and what a row says of its object. */
import { bytes, integer, json, maybe, type RowOf, statement, text, time } from "#db";
import type { Encryption } from "./encryption.ts";
import type { Metadata } from "./metadata.ts";
import type { Checksums, ObjectInfo } from "./model.ts";
import { id, key, storageClass } from "./schema.ts";

/** Beside MD5; of an object made of parts they may be of the parts' own. */
export type KeptChecksums = Checksums & { readonly isComposite?: true };

/** Not the key: who asks for one object has it already, and octets are the dearest values of a row to read. */
const facts = {
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
const FACTS = `version, size, etag, uploaded_at, storage_class, part_count, checksums, encryption,
  metadata`;
export const info = { key, ...facts };
export const INFO = `key, ${FACTS}`;

export const content = { blob: maybe(id) };

export const objectInfo = statement({
  sql: `SELECT ${FACTS} FROM objects WHERE bucket = :bucket AND key = :key`,
  takes: { bucket: integer, key },
  gives: facts,
});
export const wholeObject = statement({
  sql: `SELECT ${FACTS}, blob, body FROM objects
        LEFT JOIN bodies ON bodies.slot = objects.slot AND blob IS NULL WHERE bucket = :bucket AND key = :key`,
  takes: { bucket: integer, key },
  gives: { ...facts, ...content, body: maybe(bytes) },
});

export type FoundObject = RowOf<typeof wholeObject>;
export type ObjectRow = FoundObject & { readonly bucket: number; readonly key: string };
export type InfoRow = RowOf<typeof objectInfo>;

const NO_TAGS = {};

export function infoOf(
  row: Omit<InfoRow, "metadata"> & { readonly key: string },
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
