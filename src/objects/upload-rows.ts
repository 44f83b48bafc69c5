/** The rows of uploads. */
import {
  type Bound,
  bytes,
  integer,
  json,
  maybe,
  mustChangeOne,
  type RowOf,
  statement,
  time,
} from "#db";
import type { Encryption } from "./encryption.ts";
import type { Metadata } from "./metadata.ts";
import type { ChecksumChoice } from "./upload-model.ts";
import type { ObjectRow } from "./object-rows.ts";
import { flag, id, key, storageClass } from "./schema.ts";

/** What the object has that an upload became, beside what the upload itself says of it. */
export type Completed = Pick<
  ObjectRow,
  "version" | "size" | "etag" | "uploadedAt" | "checksums" | "partCount"
>;

const upload = {
  id,
  bucket: integer,
  key,
  isOpen: flag,
  /** Moves with every part, so that who completes an upload knows the parts that it has. */
  revision: integer,
  storageClass,
  metadata: maybe(json<Metadata>()),
  createdAt: time,
  checksum: maybe(json<ChecksumChoice>()),
  encryption: maybe(json<Encryption>()),
  /** Null unless it was completed. */
  completed: maybe(json<Completed>()),
};
const UPLOAD = `id, bucket, key, is_open, revision, storage_class, metadata, created_at, checksum, encryption,
  completed`;

export const uploadById = statement({
  sql: `SELECT ${UPLOAD} FROM uploads WHERE id = :id`,
  takes: { id },
  gives: upload,
});
export type UploadRow = RowOf<typeof uploadById>;

export const addUpload = statement({
  sql: `INSERT INTO uploads (${UPLOAD}) VALUES (:id, :bucket, :key, :isOpen, :revision,
        :storageClass, :metadata, :createdAt, :checksum, :encryption, :completed)`,
  takes: upload,
});

/** Those open, behind a place among them; begun after a time. */
export const openUploadsBehind = statement({
  sql: `SELECT ${UPLOAD} FROM uploads
        WHERE bucket = :bucket AND is_open = 1 AND (key, id) > (:key, :id) AND key < :end
        AND created_at > :since ORDER BY bucket, key, id LIMIT :limit`,
  takes: { bucket: integer, key: bytes, id, end: bytes, since: time, limit: integer },
  gives: upload,
});

const touchUpload = statement({
  sql: "UPDATE uploads SET revision = revision + 1 WHERE id = :id AND is_open = 1",
  takes: { id },
});
/** Guards the write of a part: its upload must be open, and stays so until the write is done. */
export function whileOpen(id: string): Bound {
  return mustChangeOne(touchUpload({ id }));
}

const finishUpload = statement({
  sql: `UPDATE uploads SET is_open = 0, completed = :completed
        WHERE id = :id AND is_open = 1 AND revision = :seen`,
  takes: { id, seen: integer, completed: upload.completed },
});
/** Guards the completion: no part may have come since it was looked at. */
export function finish({ id, revision }: UploadRow, object: ObjectRow): Bound {
  const { version, size, etag, uploadedAt, checksums, partCount } = object;
  const completed = { version, size, etag, uploadedAt, checksums, partCount };
  return mustChangeOne(finishUpload({ id, seen: revision, completed }));
}

const closeUpload = statement({
  sql: "UPDATE uploads SET is_open = 0 WHERE id = :id AND is_open = 1",
  takes: { id },
});
const discardUpload = statement({
  sql: "INSERT INTO blob_garbage (id, has_parts, since) VALUES (:id, 1, :now) RETURNING id",
  takes: { id, now: time },
  gives: { id },
});
/** Ends an upload that is open; its parts become garbage. */
export function abort(id: string, now: number): readonly Bound[] {
  return [mustChangeOne(closeUpload({ id })), discardUpload({ id, now })];
}

/** Below 0 stands for "to be removed": -1 was open, -2 was not. */
const markUploadsOfBucket = statement({
  sql: "UPDATE uploads SET is_open = is_open - 2 WHERE bucket = :bucket",
  takes: { bucket: integer },
});
const discardMarkedUploads = statement({
  sql: `INSERT INTO blob_garbage (id, has_parts, since)
        SELECT id, 1, :now FROM uploads WHERE bucket = :bucket AND is_open = -1 RETURNING id`,
  takes: { bucket: integer, now: time },
  gives: { id },
});
const removeMarkedUploads = statement({
  sql: "DELETE FROM uploads WHERE bucket = :bucket AND is_open < 0",
  takes: { bucket: integer },
});
/** Removes all uploads of a bucket, but for those that another node begins meanwhile: they have no mark. */
export function removeAll(bucket: number, now: number): readonly Bound[] {
  return [
    markUploadsOfBucket({ bucket }),
    discardMarkedUploads({ bucket, now }),
    removeMarkedUploads({ bucket }),
  ];
}

export const uploadsBegunBefore = statement({
  sql: `SELECT id FROM uploads WHERE created_at <= :before AND is_open = 1
        ORDER BY created_at LIMIT :limit`,
  takes: { before: time, limit: integer },
  gives: { id },
});
export const forgetUploads = statement({
  sql: "DELETE FROM uploads WHERE created_at <= :before AND is_open = 0",
  takes: { before: time },
});
