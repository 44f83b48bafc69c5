/** The settings of buckets: kept as rows, and at hand as long as the bucket's row says that they are the same. */
import { type Bound, type Database, isDatabaseFault, mustChangeOne } from "#db";
import { noSuchBucket } from "../buckets.ts";
import type { Bucket } from "../model.ts";
import {
  type BucketSettings,
  settingChecks,
  type SettingName,
  type SettingValue,
} from "./names.ts";
import * as rows from "./setting-rows.ts";

/** Of settings kept at hand, as they lie in their rows: those of many thousand buckets, or of a few with very many rules. */
const MAX_KNOWN_CHARACTERS = 8 * 1024 ** 2;
/** What else an entry takes. */
const ENTRY_CHARACTERS = 200;

const NONE: BucketSettings = {};

interface Known {
  readonly revision: number;
  readonly settings: BucketSettings;
  readonly size: number;
}

export class Settings {
  readonly #db: Database;
  /** By the bucket's number. */
  readonly #known = new Map<number, Known>();
  #size = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** At once, unless they have changed since they were read. */
  of({ number, settingsRevision }: Bucket): BucketSettings | Promise<BucketSettings> {
    if (settingsRevision === 0) return NONE;
    const known = this.#known.get(number);
    return known !== undefined && known.revision >= settingsRevision
      ? known.settings
      : this.#read(number, settingsRevision);
  }

  async set<Name extends SettingName>(
    bucket: Bucket,
    name: Name,
    value: SettingValue<Name>,
  ): Promise<void> {
    settingChecks[name](value);
    await this.#change(bucket, rows.setSetting({ bucket: bucket.number, name, value }));
  }

  /** What is not set need not be removed: that is no fault. */
  remove(bucket: Bucket, name: SettingName): Promise<void> {
    return this.#change(bucket, rows.removeSetting({ bucket: bucket.number, name }));
  }

  async #read(bucket: number, revision: number): Promise<BucketSettings> {
    const found = await this.#db.all(rows.settingsOfBucket({ bucket }));
    const settings: BucketSettings = Object.fromEntries(
      found.map(({ name, value }) => [name, value]),
    );
    const size = found.reduce((sum, { characters }) => sum + characters, ENTRY_CHARACTERS);
    this.#size += size - (this.#known.get(bucket)?.size ?? 0);
    if (this.#size > MAX_KNOWN_CHARACTERS) {
      this.#known.clear();
      this.#size = size;
    }
    this.#known.set(bucket, { revision, settings, size });
    return settings;
  }

  async #change({ number, name }: Bucket, change: Bound): Promise<void> {
    try {
      await this.#db.write(mustChangeOne(rows.moveRevision({ bucket: number })), change);
    } catch (error) {
      throw isDatabaseFault(error, "guard") ? noSuchBucket(name) : error;
    }
  }
}
