/** The store's buckets: their making, their settings and their end. */
import { Buckets, type BucketsOptions } from "./buckets.ts";
import type { Bucket, StorageClass } from "./model.ts";
import { run } from "./run.ts";
import type { SettingName, SettingValue } from "./settings/names.ts";
import { Settings } from "./settings/settings.ts";

export class BucketStore {
  readonly #buckets: Buckets;
  readonly #settings: Settings;
  readonly #removalHearers: (() => Promise<void>)[] = [];

  constructor(options: BucketsOptions) {
    this.#buckets = new Buckets(options);
    this.#settings = new Settings(options.db);
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

  /** The same at once; null where it has to be read. */
  bucketAtHand(name: string): Bucket | null {
    return this.#buckets.atHand(name);
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
  async deleteBucket(name: string): Promise<void> {
    await run(name, () => this.#buckets.remove(name));
    await this.bucketRemoved();
  }

  /** One is removed, here or on another thread: tells those who want to hear of it. */
  protected async bucketRemoved(): Promise<void> {
    for (const hear of this.#removalHearers) await hear();
  }

  /** Whoever hears of it has done so before the one who asked for it. */
  onBucketRemoved(hear: () => Promise<void>): void {
    this.#removalHearers.push(hear);
  }

  /** Something of the bucket's row is another now; later reads of the bucket see it. */
  bucketChanged({ name }: Bucket): void {
    this.#buckets.forget(name);
  }

  /** Null when it is not set. At once where it is known. */
  setting<Name extends SettingName>(
    bucket: Bucket,
    name: Name,
  ): SettingValue<Name> | null | Promise<SettingValue<Name> | null> {
    const all = this.#settings.of(bucket);
    if (!(all instanceof Promise)) return all[name] ?? null;
    return run(bucket.name, async () => (await all)[name] ?? null);
  }

  /** Later reads of the bucket see it; the one that was given does not. */
  async setSetting<Name extends SettingName>(
    bucket: Bucket,
    name: Name,
    value: SettingValue<Name>,
  ): Promise<void> {
    await run(bucket.name, () => this.#settings.set(bucket, name, value)).finally(() =>
      this.#buckets.forget(bucket.name),
    );
  }

  /** What is not set need not be removed: that is no fault. */
  removeSetting(bucket: Bucket, name: SettingName): Promise<void> {
    const removed = run(bucket.name, () => this.#settings.remove(bucket, name));
    return removed.finally(() => this.#buckets.forget(bucket.name));
  }
}
