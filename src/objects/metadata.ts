/** What an object carries beside its octets: checked, counted, and packed for its row. */
import { ObjectFault } from "./fault.ts";
import { MAX_HTTP_METADATA, MAX_OBJECT_TAGS } from "./limits.ts";
import type { Bucket, HttpMetadata, StorageClass, WriteOptions } from "./model.ts";
import { checkTags } from "./tags.ts";

export interface Metadata {
  readonly http?: HttpMetadata;
  readonly custom?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
}

export const STORAGE_CLASSES: readonly StorageClass[] = ["Standard", "InfrequentAccess"];

/** What of the options goes into the row: null when there is nothing. Throws for more than may be. */
export function metadataOf({ http, custom, tags }: WriteOptions, limit: number): Metadata | null {
  const size = Object.entries(custom ?? {}).reduce((sum, [k, v]) => sum + count(k) + count(v), 0);
  if (size > limit) {
    throw new ObjectFault("metadata-too-large", `Custom metadata of ${size} exceeds ${limit}`);
  }
  const head = Object.values(http ?? {}).reduce<number>((sum, v) => sum + count(String(v)), 0);
  if (head > MAX_HTTP_METADATA) {
    const message = `HTTP metadata of ${head} exceeds ${MAX_HTTP_METADATA}`;
    throw new ObjectFault("metadata-too-large", message);
  }
  if (tags !== undefined) checkTags(tags, MAX_OBJECT_TAGS);
  return packed({ http, custom, tags });
}

/** The same with other tags. */
export function retagged(metadata: Metadata | null, tags: Metadata["tags"]): Metadata | null {
  checkTags(tags ?? {}, MAX_OBJECT_TAGS);
  return packed({ ...metadata, tags });
}

function packed({
  http,
  custom,
  tags,
}: { [K in keyof Metadata]: Metadata[K] | undefined }): Metadata | null {
  const packed: Metadata = {
    ...(http && hasAny(http) && { http }),
    ...(custom && hasAny(custom) && { custom }),
    ...(tags && hasAny(tags) && { tags }),
  };
  return hasAny(packed) ? packed : null;
}

/** As the original counts: characters, or twice as many when one of them needs a second octet. */
function count(text: string): number {
  // oxlint-disable-next-line no-control-regex -- All that one octet can hold.
  return /^[\0-\xff]*$/.test(text) ? text.length : text.length * 2;
}

function hasAny(fields: object): boolean {
  return Object.values(fields).some((value) => value !== undefined);
}

/** The storage class asked for, or the bucket's. */
export function storageClassOf({ storageClass }: WriteOptions, bucket: Bucket): StorageClass {
  if (storageClass === undefined) return bucket.storageClass;
  checkStorageClass(storageClass);
  return storageClass;
}

export function checkStorageClass(given: string): void {
  if (!(STORAGE_CLASSES as readonly string[]).includes(given)) {
    const message = `"${given.slice(0, 40)}" is no storage class; there are ${STORAGE_CLASSES.join(" and ")}`;
    throw new ObjectFault("bad-storage-class", message);
  }
}
