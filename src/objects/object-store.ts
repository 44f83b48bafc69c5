/** The object store: buckets, objects and multipart uploads, on a database and a place for blobs. */
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Database } from "#db";
import { Generations } from "#kit/generations.ts";
import { BucketStore } from "./bucket-store.ts";
import { Contents } from "./contents.ts";
import type { BlobDriver } from "./driver.ts";
import { Outbox } from "./events/outbox.ts";
import { Garbage } from "./garbage.ts";
import { HashThread } from "./hash-thread.ts";
import { AllHolds, Holds } from "./holds.ts";
import { defaultLimits, type ObjectLimits } from "./limits.ts";
import { keepGoing, type LifecycleWorkOptions } from "./lifecycle/keep-going.ts";
import { type CarriedOut, Lifecycle } from "./lifecycle/lifecycle.ts";
import { list } from "./listing.ts";
import type {
  Body,
  Bucket,
  DeleteConditions,
  DeleteOutcome,
  GetOptions,
  GetResult,
  HeadOptions,
  ListOptions,
  ListPage,
  ObjectInfo,
  PutOptions,
  StorageClass,
} from "./model.ts";
import type {
  CompleteOptions,
  ObjectPartPage,
  PartListOptions,
  PartOptions,
  PartPage,
  StoredPart,
  Upload,
  UploadedPart,
  UploadListOptions,
  UploadOptions,
  UploadPage,
} from "./upload-model.ts";
import { type Background, mainBackground, serveThread } from "./other-threads.ts";
import { Reading } from "./reading.ts";
import { RecentObjects } from "./recent-objects.ts";
import { run } from "./run.ts";
import { Sweep, type SweepOptions, type Swept } from "./sweep.ts";
import { keepSweeping, type SweepingOptions } from "./sweeping.ts";
import type { SettingName, SettingValue } from "./settings/names.ts";
import { listUploads, partsOfObject } from "./upload-listing.ts";
import { Uploads } from "./uploads.ts";
import { Writing } from "./writing.ts";

export interface ObjectStoreOptions {
  readonly db: Database;
  readonly blobs: BlobDriver;
  readonly now: () => number;
  readonly limits?: Partial<ObjectLimits>;
  /** Of all stores on this ground, where there are several. */
  readonly generations?: Generations;
  /** To the store on the main thread, which does this one's work in the background: what that has given for it. */
  readonly main?: MessagePort;
}

/**
 * When a write resolves it is on disk, and every later read sees it. Octets handed over must not be
 * changed until then. The database and the blobs belong to whoever made them.
 */
export class ObjectStore extends BucketStore implements AsyncDisposable {
  readonly #db: Database;
  readonly #reading: Reading;
  readonly #writing: Writing;
  readonly #uploads: Uploads;
  readonly #garbage: Garbage;
  readonly #sweep: Sweep;
  readonly #lifecycle: Lifecycle;
  readonly #allHolds: AllHolds;
  #wakeLifecycle = () => {};
  readonly #outbox: Outbox;
  readonly #now: () => number;
  readonly #background = new AsyncDisposableStack();

  constructor({ db, blobs, now, limits: given, generations, main }: ObjectStoreOptions) {
    const limits = { ...defaultLimits, ...given };
    const holds = new Holds();
    const allHolds = new AllHolds(holds);
    const garbage = new Garbage({ db, blobs, holds: allHolds, now });
    super({
      db,
      garbage,
      mostBuckets: limits.bucketsPerAccount,
      now,
      ...(generations && { generations }),
    });
    const hashThread = this.#background.use(new HashThread());
    const contents = new Contents({ db, blobs, holds, hashThread, limits });
    this.#db = db;
    this.#now = now;
    this.#garbage = garbage;
    this.#allHolds = allHolds;
    const recent = new RecentObjects((generations ?? new Generations()).changes);
    this.#reading = new Reading({ db, blobs, holds, recent });
    this.#outbox = new Outbox(now);
    const writing = { db, contents, garbage, recent, limits, now, alongside: this.#outbox };
    this.#writing = new Writing(writing);
    this.#uploads = new Uploads(writing);
    this.#sweep = new Sweep({ db, blobs, holds: allHolds, now }, garbage);
    this.#lifecycle = new Lifecycle({
      db,
      bucket: (name) => this.bucket(name),
      writing: this.#writing,
      uploads: this.#uploads,
      now,
    });
    if (main !== undefined) this.#leaveTo(this.#background.use(mainBackground(main, holds)));
  }

  override async setSetting<Name extends SettingName>(
    bucket: Bucket,
    name: Name,
    value: SettingValue<Name>,
  ): Promise<void> {
    await super.setSetting(bucket, name, value);
    if (name === "lifecycle") this.#wakeLifecycle();
  }

  /** An encrypted object needs its key only when options are given. */
  head(bucket: Bucket, key: string, options?: HeadOptions): Promise<ObjectInfo | null> {
    return run(bucket.name, () => this.#reading.head(bucket, key, options));
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

  /** One object, if it is as it must be. */
  deleteIf(bucket: Bucket, key: string, conditions: DeleteConditions): Promise<DeleteOutcome> {
    return run(bucket.name, () => this.#writing.deleteIf(bucket, key, conditions));
  }

  /** Its tags are these, and no others; it stays the version that it is. False when it is not there. */
  setTags(bucket: Bucket, key: string, tags: Readonly<Record<string, string>>): Promise<boolean> {
    return run(bucket.name, () => this.#writing.setTags(bucket, key, tags));
  }

  /** Gives a version another storage class. False when it is not there any more. */
  transition(
    bucket: Bucket,
    key: string,
    version: string,
    storageClass: StorageClass,
  ): Promise<boolean> {
    return run(bucket.name, () => this.#writing.transition(bucket, key, version, storageClass));
  }

  list(bucket: Bucket, options: ListOptions = {}): Promise<ListPage> {
    return run(bucket.name, () => list(this.#db, bucket, options));
  }

  /** The parts that an object is made of; null when it is not there, or not made of parts. */
  partsOf(
    bucket: Bucket,
    key: string,
    options: PartListOptions = {},
  ): Promise<ObjectPartPage | null> {
    return run(bucket.name, () => partsOfObject(this.#db, bucket, key, options));
  }

  createUpload(bucket: Bucket, key: string, options: UploadOptions = {}): Promise<Upload> {
    return run(bucket.name, () => this.#uploads.create(bucket, key, options));
  }

  /** Those that are open. */
  listUploads(bucket: Bucket, options: UploadListOptions = {}): Promise<UploadPage> {
    return run(bucket.name, () => listUploads(this.#db, bucket, options, this.#now()));
  }

  /** A part of the same number is replaced. */
  uploadPart(
    bucket: Bucket,
    key: string,
    uploadId: string,
    partNumber: number,
    body: Body | Uint8Array,
    options: PartOptions = {},
  ): Promise<StoredPart> {
    return run(bucket.name, () =>
      this.#uploads.putPart(bucket, key, uploadId, partNumber, body, options),
    );
  }

  /** The parts that an open upload has. */
  listParts(
    bucket: Bucket,
    key: string,
    uploadId: string,
    options: PartListOptions = {},
  ): Promise<PartPage> {
    return run(bucket.name, () => this.#uploads.parts(bucket, key, uploadId, options));
  }

  /**
   * Parts that are not named are dropped. When it fails, or a condition does not hold and it gives null, the
   * upload stays open.
   */
  completeUpload(
    bucket: Bucket,
    key: string,
    uploadId: string,
    parts: readonly UploadedPart[],
    options: CompleteOptions,
  ): Promise<ObjectInfo | null> {
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

  /** Does what lifecycle rules have due by now; nothing while another node does. */
  carryOutLifecycle(): Promise<CarriedOut> {
    return run("", () => this.#lifecycle.run());
  }

  /** Carries lifecycle rules out from now on by itself, until the store is disposed of. */
  startLifecycle(options: LifecycleWorkOptions): void {
    const work = this.#background.use(keepGoing(this.#lifecycle, options));
    this.#wakeLifecycle = () => work.wake();
  }

  /** Hears when there may be something to tell of a bucket that has notifications. */
  onEvents(hear: () => void): void {
    this.#outbox.onFilled = hear;
  }

  /** For a store on another thread, until that ends: this one does its work in the background. */
  portForThread(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const holds = serveThread(port1, {
      garbageMade: () => this.#garbage.onMade?.(),
      lifecycleChanged: () => this.#wakeLifecycle(),
      eventsAdded: () => this.#outbox.onFilled?.(),
      bucketRemoved: () => this.bucketRemoved(),
    });
    const held = this.#allHolds.add(holds);
    port1.once("close", () => held[Symbol.dispose]());
    return port2;
  }

  #leaveTo({ garbageMade, lifecycleChanged, eventsAdded, bucketRemoved }: Background): void {
    if (!this.#db.shared) this.#garbage.onMade = garbageMade;
    this.#wakeLifecycle = lifecycleChanged;
    this.#outbox.onFilled = eventsAdded;
    this.onBucketRemoved(bucketRemoved);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#background.disposeAsync();
  }
}
