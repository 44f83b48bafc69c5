/** The store's background work: ends uploads that lapsed, collects garbage and orphans. */
import { acquireLease, type Database, isDatabaseFault, releaseLease } from "#db";
import { randomId } from "#kit/random.ts";
import type { Garbage } from "./garbage.ts";
import { UPLOAD_LIFETIME_MS } from "./limits.ts";
import { type OrphanOptions, Orphans } from "./orphans.ts";
import * as uploads from "./upload-rows.ts";

export interface Swept {
  readonly uploads: number;
  readonly blobs: number;
  readonly orphans: number;
}

export interface SweepOptions {
  /** Whether to look through all blobs for those that nothing names. */
  readonly orphans?: boolean;
}

/** Longer than the longest step; a node that dies is followed by another after this. */
const LEASE_SECONDS = 120;
const BATCH = 100;

const NOTHING: Swept = { uploads: 0, blobs: 0, orphans: 0 };

export class Sweep {
  readonly #options: OrphanOptions;
  readonly #garbage: Garbage;
  readonly #orphans: Orphans;
  #isOver = false;
  #renewAt = 0;
  readonly #lease = { name: "objects", holder: randomId(), seconds: LEASE_SECONDS };

  constructor(options: OrphanOptions, garbage: Garbage) {
    this.#options = options;
    this.#garbage = garbage;
    this.#orphans = new Orphans(options);
  }

  /** One pass. Does nothing while another node is at it. */
  async run({ orphans = true }: SweepOptions): Promise<Swept> {
    if (!(await this.#mayGoOn())) return NOTHING;
    try {
      return {
        uploads: await this.#endUploads(),
        blobs: await this.#garbage.collect(() => this.#mayGoOn()),
        orphans: orphans ? await this.#orphans.collect(() => this.#mayGoOn()) : 0,
      };
    } finally {
      this.#renewAt = 0;
      if (this.#db.shared) await releaseLease(this.#db, this.#lease);
    }
  }

  /** Lets the pass under way end early. */
  stop(): void {
    this.#isOver = true;
  }

  get #db(): Database {
    return this.#options.db;
  }

  /** Where nobody shares the store there is nobody to agree with. Else the lease is renewed in good time. */
  async #mayGoOn(): Promise<boolean> {
    const { db, now } = this.#options;
    if (this.#isOver) return false;
    if (!db.shared || now() < this.#renewAt) return true;
    if (!(await acquireLease(db, this.#lease, now()))) return false;
    this.#renewAt = now() + (LEASE_SECONDS * 1000) / 4;
    return true;
  }

  async #endUploads(): Promise<number> {
    const now = this.#options.now();
    let ended = 0;
    for (;;) {
      const before = now - UPLOAD_LIFETIME_MS;
      const lapsed = await this.#db.all(uploads.uploadsBegunBefore({ before, limit: BATCH }));
      for (const { id } of lapsed) {
        try {
          await this.#db.write(...uploads.abort(id, now));
          ended++;
        } catch (error) {
          if (!isDatabaseFault(error, "guard")) throw error; // It has ended meanwhile.
        }
      }
      if (lapsed.length < BATCH) break;
    }
    // As long again they can be told from what never was.
    await this.#db.write(uploads.forgetUploads({ before: now - 2 * UPLOAD_LIFETIME_MS }));
    return ended;
  }
}
