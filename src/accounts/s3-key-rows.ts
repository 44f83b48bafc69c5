/** The statements that read and write S3 keys. */
import { bytes, integer, json, maybe, statement, text, time, word } from "#db";
import type { BucketGrant, S3Permission } from "./s3-grants.ts";

const s3Key = {
  accessKeyId: text,
  accountId: text,
  sealedSecret: bytes,
  createdAt: time,
  name: text,
  permission: word<S3Permission>(),
  buckets: maybe(json<readonly BucketGrant[]>()),
  expiresAt: maybe(time),
  lastUsedAt: maybe(time),
};
const S3_KEY = `access_key_id, account_id, sealed_secret, created_at, name, permission, buckets,
  expires_at, last_used_at`;

export const addS3Key = statement({
  sql: `INSERT INTO s3_keys (${S3_KEY}) VALUES (:accessKeyId, :accountId, :sealedSecret, :createdAt,
        :name, :permission, :buckets, :expiresAt, :lastUsedAt)`,
  takes: s3Key,
});
export const s3KeyById = statement({
  sql: `SELECT ${S3_KEY} FROM s3_keys WHERE access_key_id = :accessKeyId`,
  takes: { accessKeyId: text },
  gives: s3Key,
});
export const s3KeysOfAccount = statement({
  sql: `SELECT ${S3_KEY} FROM s3_keys WHERE account_id = :accountId
        ORDER BY created_at, access_key_id`,
  takes: { accountId: text },
  gives: s3Key,
});
/** Changes no row once the account has more keys than this: the guard of a write that adds one. */
export const withinS3Keys = statement({
  sql: `UPDATE s3_keys SET name = name WHERE access_key_id = :accessKeyId AND :most >=
        (SELECT COUNT(*) FROM s3_keys WHERE account_id = :accountId)`,
  takes: { accessKeyId: text, most: integer, accountId: text },
});
export const setS3KeyUsed = statement({
  sql: "UPDATE s3_keys SET last_used_at = :at WHERE access_key_id = :accessKeyId",
  takes: { accessKeyId: text, at: time },
});
export const removeS3Key = statement({
  sql: "DELETE FROM s3_keys WHERE access_key_id = :accessKeyId AND account_id = :accountId",
  takes: { accessKeyId: text, accountId: text },
});
