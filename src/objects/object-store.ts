/** The object store: buckets, objects and multipart uploads, on a database and a place for blobs. */
import { type Database, DatabaseFault } from "#db";
import { Buckets, noSuchBucket } from "./buckets.ts";
import { Contents } from "./contents.ts";
import type { BlobDriver } from "./driver.ts";
import { ObjectFault } from "./fault.ts";
import { Garbage } from "./garbage.ts";
import { HashThread } from "./hash-thread.ts";
import { Holds } from "./holds.ts";
import { defaultLimits, type ObjectLimits } from "./limits.ts";
import { list } from "./listing.ts";
import type {
  Body,
  BodyOptions,
  Bucket,
  CompleteOptions,
  GetResult,
  ListOptions,
  ListPage,
  ObjectInfo,
  PutOptions,
  StorageClass,
  Upload,
  UploadedPart,
  WriteOptions,
} from "./model.ts";
import { type GetOptions, Reading } from "./reading.ts";
import { Sweep, type SweepOptions, type Swept } from "./sweep.ts";
import { keepSweeping, type SweepingOptions } from "./sweeping.ts";
import { Uploads } from "./uploads.ts";
import { Writing } from "./writing.ts";

export interface ObjectStoreOptions {
  readonly db: Database;
  readonly blobs: BlobDriver;
  readonly now: () => number;
  readonly limits?: Partial<ObjectLimits>;
}

/**
 * When a write resolves it is on disk, and every later read sees it. Octets handed over must not be
 * changed until then. The database and the blobs belong to whoever made them.
 */
export class ObjectStore implements AsyncDisposable {
  readonly #db: Database;
  readonly #buckets: Buckets;
  readonly #reading: Reading;
  readonly #writing: Writing;
  readonly #uploads: Uploads;
  readonly #garbage: Garbage;
  readonly #sweep: Sweep;
  readonly #background = new AsyncDisposableStack();

  constructor({ db, blobs, now, limits: given }: ObjectStoreOptions) {
    const limits = { ...defaultLimits, ...given };
    const holds = new Holds();
    const garbage = new Garbage({ db, blobs, holds, now });
    const hashThread = this.#background.use(new HashThread());
    const contents = new Contents({ db, blobs, holds, hashThread, limits });
    this.#db = db;
    this.#garbage = garbage;
    this.#buckets = new Buckets({ db, garbage, mostBuckets: limits.bucketsPerAccount, now });
    this.#reading = new Reading(db, blobs, holds);
    this.#writing = new Writing({ db, contents, garbage, limits, now });
    this.#uploads = new Uploads({ db, contents, garbage, limits, now });
    this.#sweep = new Sweep({ db, blobs, holds, now }, garbage);
  }

  createBucket(
    accountId: string,
    name: string,
    { storageClass = "Standard" }: { readonly storageClass?: StorageClass } = {},
  ): Promise<Bucket> {
    return run(name, () => this.#buckets.create(accountId, name, storageClass));
  }

  bucket(name: string): Promise<Bucket> {
    return run(name, () => this.#buckets.get(name));
  }

  /** Of these accounts, by name. */
  buckets(accountIds: readonly string[]): Promise<Bucket[]> {
    return run("", () => this.#buckets.list(accountIds));
  }

  editBucket(
    name: string,
    { storageClass }: { readonly storageClass: StorageClass },
  ): Promise<Bucket> {
    return run(name, () => this.#buckets.setStorageClass(name, storageClass));
  }

  /** Only when it holds no objects; uploads under way are aborted. */
  deleteBucket(name: string): Promise<void> {
    return run(name, () => this.#buckets.remove(name));
  }

  head(bucket: Bucket, key: string): Promise<ObjectInfo | null> {
    return run(bucket.name, () => this.#reading.head(bucket, key));
  }

  get(bucket: Bucket, key: string, options: GetOptions = {}): Promise<GetResult> {
    return run(bucket.name, () => this.#reading.get(bucket, key, options));
  }

  /** Null when a condition did not hold. */
  put(
    bucket: Bucket,
    key: string,
    body: Body | Uint8Array,
    options: PutOptions = {},
  ): Promise<ObjectInfo | null> {
    return run(bucket.name, () => this.#writing.put(bucket, key, body, options));
  }

  /** All of them or none; from 1 to 1000. Keys that are not there are no fault. */
  delete(bucket: Bucket, keys: readonly string[]): Promise<void> {
    return run(bucket.name, () => this.#writing.delete(bucket, keys));
  }

  list(bucket: Bucket, options: ListOptions = {}): Promise<ListPage> {
    return run(bucket.name, () => list(this.#db, bucket, options));
  }

  createUpload(bucket: Bucket, key: string, options: WriteOptions = {}): Promise<Upload> {
    return run(bucket.name, () => this.#uploads.create(bucket, key, options));
  }

  /** A part of the same number is replaced. */
  uploadPart(
    bucket: Bucket,
    key: string,
    uploadId: string,
    partNumber: number,
    body: Body | Uint8Array,
    options: BodyOptions = {},
  ): Promise<UploadedPart> {
    return run(bucket.name, () =>
      this.#uploads.putPart(bucket, key, uploadId, partNumber, body, options),
    );
  }

  /** Parts that are not named are dropped. When it fails the upload stays open. */
  completeUpload(
    bucket: Bucket,
    key: string,
    uploadId: string,
    parts: readonly UploadedPart[],
    options: CompleteOptions,
  ): Promise<ObjectInfo> {
    return run(bucket.name, () => this.#uploads.complete(bucket, key, uploadId, parts, options));
  }

  abortUpload(bucket: Bucket, key: string, uploadId: string): Promise<void> {
    return run(bucket.name, () => this.#uploads.abort(bucket, key, uploadId));
  }

  /** Ends uploads that lapsed and deletes blobs that nothing names; nothing while another node does. */
  sweep(options: SweepOptions = {}): Promise<Swept> {
    return run("", () => this.#sweep.run(options));
  }

  /** Sweeps from now on by itself, until the store is disposed of. */
  startSweeping(options: SweepingOptions): void {
    const garbage = this.#db.shared ? null : this.#garbage;
    this.#background.use(keepSweeping(this.#sweep, garbage, options));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#background.disposeAsync();
  }
}

/** Tells the database's faults in the store's own terms. */
async function run<T>(bucketName: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseFault)) throw error;
    // Rows of objects and uploads need their bucket's.
    if (error.kind === "reference") throw noSuchBucket(bucketName);
    const message =
      error.kind === "full"
        ? "The database's disk is full"
        : "The database cannot do this right now; try again shortly";
    throw new ObjectFault("unavailable", message, { cause: error });
  }
}
