/** Limits of buckets, objects and uploads; those of the original, unless a reason stands beside them. */

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const TIB = 1024 * GIB;

/** Of UTF-8. */
export const MAX_KEY_OCTETS = 1_024;
export const MAX_DELETED_KEYS = 1_000;
export const MAX_PAGE = 1_000;
export const MAX_PARTS = 10_000;
/** Of S3, as is what a tag may hold. */
export const MAX_OBJECT_TAGS = 10;

/** Uploads are aborted so long after they were begun. */
export const UPLOAD_LIFETIME_MS = 7 * 86_400_000;

/**
 * HTTP metadata has no limit in the original. Here it must fit the headers of a response, for which
 * clients, proxies and Node itself allow 16 KiB in all.
 */
export const MAX_HTTP_METADATA = 8 * KIB;

/** Characters of metadata on a page of a list that carries it: what the original aims at. */
export const MAX_PAGE_METADATA = 256 * KIB;

/** Limits that an installation, or a test, may set otherwise. */
export interface ObjectLimits {
  /** Values up to here lie in their row: one commit, no file. */
  readonly inlineOctets: number;
  /** Of one put, or one part. */
  readonly bodyOctets: number;
  /** Of an object made of parts. */
  readonly objectOctets: number;
  /** Of every part but the last. */
  readonly leastPartOctets: number;
  /** Custom metadata, counted as `metadata.ts` says. */
  readonly metadata: number;
  readonly bucketsPerAccount: number;
}

export const defaultLimits: ObjectLimits = {
  /*
   * A file costs two syncs of its own, where rows share one: up to here a put takes less than half the CPU time.
   * But what lies in a row is written twice, to the log and to its page, and read as a whole on the main
   * thread, 0.15 ms of it. Decision 14 has the figures.
   */
  inlineOctets: 128 * KIB,
  bodyOctets: 5 * GIB, // S3's, which its clients count on. The original takes 5 MiB less.
  objectOctets: 5 * TIB - 5 * GIB,
  leastPartOctets: 5 * MIB,
  metadata: 8_192,
  bucketsPerAccount: 1_000_000,
};
