/** What the writer of the objects' crash test and its judge agree on. */
import { createCipheriv, hash } from "node:crypto";
import { join } from "node:path";
import { type Database, statement, text } from "#db";
import { type Bucket, ObjectStore } from "#objects";
import { openGround } from "../../src/ground.ts";
import { type Disk, systemDisk } from "../../src/objects/drivers/disk.ts";
import { openFiles } from "../../src/objects/drivers/files.ts";

/** Few, so that every key is overwritten and deleted many times, often by several at once. */
export const KEYS: readonly string[] = Array.from({ length: 48 }, (_, i) => `f${i % 5}/key-${i}`);

/** The real one: values lie on both sides of it. */
export const INLINE_OCTETS = 128 * 1024;
/** Far less than in earnest, so that there is time for many uploads. */
export const PART_OCTETS = 140_000;

/** Octets that anybody can have again from their number. */
export interface Piece {
  readonly number: number;
  readonly size: number;
}

/** A thing that the writer does. A put `ifAbsent` may turn out to do nothing. */
export type Operation =
  | {
      readonly kind: "put";
      readonly key: string;
      readonly piece: Piece;
      readonly ifAbsent?: boolean;
    }
  | { readonly kind: "delete"; readonly keys: readonly string[] }
  | { readonly kind: "create"; readonly key: string }
  | {
      readonly kind: "part";
      readonly uploadId: string;
      readonly partNumber: number;
      readonly piece: Piece;
    }
  | {
      readonly kind: "complete";
      readonly key: string;
      readonly uploadId: string;
      readonly pieces: readonly Piece[];
    }
  | { readonly kind: "abort"; readonly uploadId: string }
  | { readonly kind: "sweep" };

/** What came of one: the version of the object, or null when there is none; the id of an upload. */
export interface Outcome {
  readonly version?: string | null;
  readonly etag?: string;
  readonly uploadId?: string;
}

/** What the writer prints, one to a line: before it begins, and when the store has acknowledged. */
export type Line =
  | { readonly begin: number; readonly operation: Operation }
  | { readonly done: number; readonly outcome: Outcome }
  | { readonly failed: number; readonly message: string };

export function octetsOf({ number, size }: Piece): Buffer {
  const key = hash("sha256", `piece ${number}`, "buffer");
  return createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

export const md5Of = (piece: Piece): string => hash("md5", octetsOf(piece), "hex");

/** The store in a data folder, as the platform puts it together; nothing is swept by itself yet. */
export async function openObjects(dataDir: string, disk: Disk = systemDisk) {
  await using opened = new AsyncDisposableStack();
  const [now, onError] = [Date.now, fail];
  const { db } = opened.use(
    await openGround({
      dataDir,
      databaseUrl: "sqlite:",
      secretKey: null,
      firstCredentials: {},
      now,
      onError,
    }),
  );
  const blobs = opened.use(await openFiles(join(dataDir, "blobs"), disk));
  const limits = { inlineOctets: INLINE_OCTETS, leastPartOctets: PART_OCTETS };
  const store = opened.use(new ObjectStore({ db, blobs, now, limits }));
  const bucket = await findBucket(db, store);
  const all = opened.move();
  return { db, blobs, store, bucket, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The one that is used; the first to come makes it. */
async function findBucket(db: Database, store: ObjectStore): Promise<Bucket> {
  const account = statement({ sql: "SELECT id FROM accounts", gives: { id: text } });
  const accountId = (await db.first(account({})))!.id;
  const [bucket] = await store.buckets([accountId]);
  return bucket ?? store.createBucket(accountId, "crash");
}

export type Opened = Awaited<ReturnType<typeof openObjects>>;

/** Trouble in the background is not to be lived with here. */
export function fail(error: unknown): never {
  throw error;
}
