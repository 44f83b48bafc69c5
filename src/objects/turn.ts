/** Background work that one node does at a time, by a lease. */
import { acquireLease, type Database, releaseLease } from "#db";
import { randomId } from "#kit/random.ts";

export interface TurnOptions {
  readonly db: Database;
  readonly now: () => number;
  /** Names the work. */
  readonly name: string;
}

/** Longer than the longest step; a node that dies is followed by another after this. */
const LEASE_SECONDS = 120;

export class Turn {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #lease: { readonly name: string; readonly holder: string; readonly seconds: number };
  #isOver = false;
  #renewAt = 0;

  constructor({ db, now, name }: TurnOptions) {
    this.#db = db;
    this.#now = now;
    this.#lease = { name, holder: randomId(), seconds: LEASE_SECONDS };
  }

  /** Where nobody shares the store there is nobody to agree with. Else the lease is renewed in good time. */
  async mayGoOn(): Promise<boolean> {
    if (this.#isOver) return false;
    const now = this.#now();
    if (!this.#db.shared || now < this.#renewAt) return true;
    if (!(await acquireLease(this.#db, this.#lease, now))) return false;
    this.#renewAt = now + (LEASE_SECONDS * 1000) / 4;
    return true;
  }

  /** Lets the next one have it. */
  async end(): Promise<void> {
    this.#renewAt = 0;
    if (this.#db.shared) await releaseLease(this.#db, this.#lease);
  }

  /** Lets the work under way end early, for good. */
  stop(): void {
    this.#isOver = true;
  }
}
