/** What an S3 key opens: for which work, in which buckets, below which prefixes. */
import { AccountFault } from "./fault.ts";

export type S3Permission = "read-only" | "read-write" | "admin-read-only" | "admin";

/**
 * Kinds of work on S3. Whoever has any key may do the first: it is to see that the buckets are there which the key
 * opens, in a list or one by one.
 */
export type S3Action = "list-buckets" | "list" | "read" | "write" | "admin-read" | "admin-write";

export interface BucketGrant {
  readonly bucket: string;
  /** With neither prefixes nor objects the bucket is open as a whole. */
  readonly prefixes: readonly string[];
  /** Whole keys. */
  readonly objects: readonly string[];
}

export interface S3Grant {
  readonly permission: S3Permission;
  /** Null for all buckets of the account. */
  readonly buckets: readonly BucketGrant[] | null;
  /** The operations that are left of the permission, by S3's names; null for all. */
  readonly operations: ReadonlySet<string> | null;
}

/** What is to be done. */
export interface S3Deed {
  readonly action: S3Action;
  /** Null where all buckets are meant. */
  readonly bucket: string | null;
  /**
   * The object's key, or the prefix of a list. Left out where a request names its keys elsewhere, as in its
   * body: then each of them must be asked for.
   */
  readonly key?: string;
  /** S3's name for it: `GetObject`. */
  readonly operation: string;
}

const READ: readonly S3Action[] = ["list-buckets", "list", "read"];
const actions: Readonly<Record<S3Permission, ReadonlySet<S3Action>>> = {
  "read-only": new Set(READ),
  "read-write": new Set([...READ, "write"]),
  "admin-read-only": new Set([...READ, "admin-read"]),
  admin: new Set([...READ, "write", "admin-read", "admin-write"]),
};

export function permitsOnS3(grant: S3Grant, { action, bucket, key, operation }: S3Deed): boolean {
  if (!actions[grant.permission].has(action)) return false;
  if (grant.operations !== null && !grant.operations.has(operation)) return false;
  if (grant.buckets === null) return true;
  if (bucket === null) return action === "list-buckets";
  return grant.buckets.some((one) => one.bucket === bucket && covers(one, action, key));
}

function covers(
  { prefixes, objects }: BucketGrant,
  action: S3Action,
  key: string | undefined,
): boolean {
  if (prefixes.length === 0 && objects.length === 0) return true;
  const isBelow = (text: string) => prefixes.some((prefix) => text.startsWith(prefix));
  if (action === "list-buckets") return true;
  // A list shows all that begins with its prefix, so a whole key opens none.
  if (action === "list") return isBelow(key ?? "");
  if (action !== "read" && action !== "write") return false;
  return key === undefined || isBelow(key) || objects.includes(key);
}

/** Whether the first leaves out something that the second asks for, wherever that is. */
export function exceeds(asked: S3Permission, held: S3Permission): boolean {
  return !actions[asked].isSubsetOf(actions[held]);
}

/** A key's grant is read with every request that shows it, so it must stay small. */
const MAX_CHARACTERS = 64 * 1024;
const MAX_KEY_BYTES = 1_024;
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Throws unless all that a new grant names can be, and goes together. */
export function checkGrant({ permission, buckets }: Pick<S3Grant, "permission" | "buckets">): void {
  if (buckets === null) return;
  if (buckets.length === 0) throw bad("A key must open a bucket, or all of them", "/buckets");
  if (JSON.stringify(buckets).length > MAX_CHARACTERS) {
    const message = `The buckets and prefixes of a key may take ${MAX_CHARACTERS} characters together`;
    throw bad(message, "/buckets");
  }
  for (const [i, { bucket, prefixes, objects }] of buckets.entries()) {
    if (!BUCKET_NAME.test(bucket)) throw bad("This is not the name of a bucket", `/buckets/${i}`);
    const paths = [...prefixes, ...objects];
    if (paths.some((path) => path === "" || Buffer.byteLength(path) > MAX_KEY_BYTES)) {
      throw bad(`A prefix must have 1 to ${MAX_KEY_BYTES} bytes`, `/buckets/${i}`);
    }
    if (paths.length > 0 && permission.startsWith("admin")) {
      throw bad("The settings of a bucket are one: admin goes with whole buckets", `/buckets/${i}`);
    }
  }
}

function bad(message: string, pointer: string): AccountFault {
  return new AccountFault("bad-key", message, { pointer });
}
