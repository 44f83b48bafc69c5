/** The store's background work: ends uploads that lapsed, collects garbage and orphans. */
import { type Database, isDatabaseFault } from "#db";
import type { Garbage } from "./garbage.ts";
import { UPLOAD_LIFETIME_MS } from "./limits.ts";
import { type OrphanOptions, Orphans } from "./orphans.ts";
import { Turn } from "./turn.ts";
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

const BATCH = 100;

const NOTHING: Swept = { uploads: 0, blobs: 0, orphans: 0 };

export class Sweep {
  readonly #options: OrphanOptions;
  readonly #garbage: Garbage;
  readonly #orphans: Orphans;
  readonly #turn: Turn;

  constructor(options: OrphanOptions, garbage: Garbage) {
    this.#options = options;
    this.#garbage = garbage;
    this.#orphans = new Orphans(options);
    this.#turn = new Turn({ ...options, name: "objects" });
  }

  /** One pass. Does nothing while another node is at it. */
  async run({ orphans = true }: SweepOptions): Promise<Swept> {
    const mayGoOn = () => this.#turn.mayGoOn();
    if (!(await mayGoOn())) return NOTHING;
    try {
      return {
        uploads: await this.#endUploads(),
        blobs: await this.#garbage.collect(mayGoOn),
        orphans: orphans ? await this.#orphans.collect(mayGoOn) : 0,
      };
    } finally {
      await this.#turn.end();
    }
  }

  /** Lets the pass under way end early. */
  stop(): void {
    this.#turn.stop();
  }

  get #db(): Database {
    return this.#options.db;
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
