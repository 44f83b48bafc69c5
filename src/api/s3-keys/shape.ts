/** An S3 key in the API's spelling. */
import { z } from "zod";
import type { BucketGrant, S3Key } from "#accounts";
import { showTime, timeInput } from "../shapes.ts";

/** More would be better served by a key each; they bound what a check has to walk through. */
const MAX_BUCKETS = 100;
const MAX_PREFIXES = 100;

const bucket = z
  .object({ name: z.string(), prefixes: z.array(z.string()).max(MAX_PREFIXES).nullish() })
  .transform(({ name, prefixes }): BucketGrant => ({
    bucket: name,
    prefixes: prefixes ?? [],
    objects: [],
  }));

export const keyInput = z
  .object({
    name: z.string().trim().min(1).max(120),
    permission: z.enum(["read-only", "read-write", "admin-read-only", "admin"]),
    buckets: z.array(bucket).max(MAX_BUCKETS).nullish(),
    expires_on: timeInput.nullish(),
  })
  .transform(({ buckets, expires_on, ...rest }) => ({
    ...rest,
    buckets: buckets ?? null,
    expiresAt: expires_on ?? null,
  }));

export function showKey(key: S3Key): object {
  return {
    access_key_id: key.accessKeyId,
    name: key.name,
    permission: key.permission,
    buckets: key.buckets?.map(({ bucket: name, prefixes }) => ({ name, prefixes })) ?? null,
    created_on: showTime(key.createdAt),
    expires_on: key.expiresAt === null ? null : showTime(key.expiresAt),
    last_used_on: key.lastUsedAt === null ? null : showTime(key.lastUsedAt),
  };
}

export const path = "/accounts/:account_id/storage/keys";
