/**
 * Carries lifecycle rules out: each bucket that has some is walked once a day, and when they have changed. All times
 * are midnights, so nothing is due in between. Pages of a list go by, never a whole bucket; after each the place
 * is noted, and who follows a node that died goes on there.
 */
import type { Database, RowOf } from "#db";
import { atMost } from "#kit/at-once.ts";
import { ObjectFault } from "../fault.ts";
import { BEHIND_ALL_KEYS } from "../keys.ts";
import { list } from "../listing.ts";
import type { Bucket, ObjectInfo } from "../model.ts";
import { DAY_MS, type LifecycleRule } from "../settings/lifecycle.ts";
import { Turn } from "../turn.ts";
import { openUploadsBehind, type UploadRow } from "../upload-rows.ts";
import type { Uploads } from "../uploads.ts";
import type { Writing } from "../writing.ts";
import { abortionOf, actionOn, prefixesOf } from "./due.ts";
import * as rows from "./walk-rows.ts";

export interface CarriedOut {
  readonly expired: number;
  readonly transitioned: number;
  readonly aborted: number;
}

export interface LifecycleOptions {
  readonly db: Database;
  readonly bucket: (name: string) => Promise<Bucket>;
  readonly writing: Writing;
  readonly uploads: Uploads;
  readonly now: () => number;
  /** Objects looked at between two notes of the place; a test has fewer. */
  readonly pageSize?: number;
}

/** Read on the main thread, which is to be free again within a millisecond or two. */
const PAGE_SIZE = 500;
/** Writes under way at once: they share commits, and leave room for those that clients wait for. */
const AT_ONCE = 32;
const FIRST_ID = "0".repeat(32);

type DueRow = RowOf<typeof rows.dueBucket>;

export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #turn: Turn;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.#turn = new Turn({ ...options, name: "lifecycle" });
  }

  /** Does all that is due by now. Nothing while another node is at it. What one bucket throws stops no other. */
  async run(): Promise<CarriedOut> {
    const { db, now: clock } = this.#options;
    const now = clock();
    const day = Math.floor(now / DAY_MS);
    const counts = { expired: 0, transitioned: 0, aborted: 0 };
    const failures: unknown[] = [];
    let due = await db.first(rows.dueBucket({ after: 0, day }));
    if (due === null) return counts;
    try {
      while (due !== null && (await this.#turn.mayGoOn())) {
        try {
          await this.#walk(due, day, now, counts);
        } catch (error) {
          const isGone = error instanceof ObjectFault && error.kind === "no-such-bucket";
          if (!isGone) failures.push(error);
        }
        due = await db.first(rows.dueBucket({ after: due.bucket, day }));
      }
    } finally {
      await this.#turn.end();
    }
    if (failures.length > 0) throw failures[0];
    return counts;
  }

  /** Lets the pass under way end early. */
  stop(): void {
    this.#turn.stop();
  }

  async #walk(due: DueRow, day: number, now: number, counts: Counts): Promise<void> {
    const { db, pageSize = PAGE_SIZE } = this.#options;
    const { rules, revision } = due;
    const bucket = await this.#options.bucket(due.name);
    if (bucket.number !== due.bucket) return; // Another of its name.
    const isResumed = due.walkedRevision === revision && due.walkedDay === day;
    const note = (place: string | null) =>
      db.write(rows.noteWalk({ bucket: bucket.number, revision, day, place }));
    const metadata = rules.some(({ filter }) => filter.tags !== undefined);
    let startAfter = isResumed ? (due.place ?? "") : "";
    counts.aborted += await this.#abortUploads(bucket, rules, now);
    for (const prefix of prefixesOf(rules)) {
      for (let cursor: string | null = ""; cursor !== null;) {
        if (!(await this.#turn.mayGoOn())) return;
        const options = { prefix, startAfter, cursor, limit: pageSize, metadata };
        const page = await list(db, bucket, options);
        await this.#carryOut(bucket, rules, page.objects, now, counts);
        ({ cursor } = page);
        startAfter = page.objects.at(-1)?.key ?? startAfter;
        if (cursor !== null) await note(startAfter);
      }
    }
    await note(null);
  }

  async #carryOut(
    bucket: Bucket,
    rules: readonly LifecycleRule[],
    objects: readonly ObjectInfo[],
    now: number,
    counts: Counts,
  ): Promise<void> {
    const { writing } = this.#options;
    await atMost(AT_ONCE, objects, async (object) => {
      const action = actionOn(rules, object, now);
      if (action === null) return;
      const { key, version } = object;
      // Only what was seen: an object that took its place has a time of its own.
      if (action.kind === "expire") {
        if (await writing.expire(bucket, key, version)) counts.expired++;
      } else if (await writing.transition(bucket, key, version, action.storageClass)) {
        counts.transitioned++;
      }
    });
  }

  async #abortUploads(
    bucket: Bucket,
    rules: readonly LifecycleRule[],
    now: number,
  ): Promise<number> {
    if (!rules.some(({ abortUploadsAfterDays }) => abortUploadsAfterDays !== undefined)) return 0;
    const { db, uploads, pageSize = PAGE_SIZE } = this.#options;
    let aborted = 0;
    let [key, id]: [Uint8Array, string] = [new Uint8Array(0), FIRST_ID];
    while (await this.#turn.mayGoOn()) {
      const page: UploadRow[] = await db.all(
        openUploadsBehind({
          bucket: bucket.number,
          key,
          id,
          end: BEHIND_ALL_KEYS,
          since: 0,
          limit: pageSize,
        }),
      );
      for (const upload of page) {
        const due = abortionOf(rules, upload);
        if (due === null || due.at > now) continue;
        await uploads.abort(bucket, upload.key, upload.id);
        aborted++;
      }
      if (page.length < pageSize) break;
      const last = page.at(-1)!;
      [key, id] = [Buffer.from(last.key), last.id];
    }
    return aborted;
  }
}

type Counts = { -readonly [Name in keyof CarriedOut]: number };
