/** What anyone may do with a bucket that is public, with a key or without. */
import type { Bucket, ObjectStore } from "#objects";
import type { Operation } from "../operation.ts";

/** Of all that reads an object only what gives it: its tags and uploads are its owner's. */
const READS: ReadonlySet<string> = new Set(["GetObject", "HeadObject"]);
const LISTS: ReadonlySet<string> = new Set(["ListObjects", "ListObjectsV2", "HeadBucket"]);

/** Whether there are buckets on which it is for anyone. */
export function mayBeForAnyone({ name }: Operation): boolean {
  return READS.has(name) || LISTS.has(name);
}

export async function isForAnyone(
  { name }: Operation,
  bucket: Bucket,
  store: ObjectStore,
): Promise<boolean> {
  const access = await store.setting(bucket, "public");
  if (access === null || !access.enabled) return false;
  return READS.has(name) || (LISTS.has(name) && access.listing);
}
