/** What the cache of a thread has done, in memory that the main thread reads too. */
import type { CacheStatus } from "./messages.ts";

export const CACHE_STATUSES = [
  "HIT",
  "MISS",
  "EXPIRED",
  "REVALIDATED",
  "STALE",
  "UPDATING",
  "BYPASS",
  "DYNAMIC",
] as const satisfies readonly CacheStatus[];

/** Behind the statuses. */
const HELD = CACHE_STATUSES.length;
const EVICTED = HELD + 1;
const FIGURES = EVICTED + 1;

export class CacheCounts {
  readonly shared: SharedArrayBuffer;
  readonly #figures: Float64Array;

  /** With the memory of a thread that was there before, its figures go on; what it held is gone. */
  constructor(shared = new SharedArrayBuffer(FIGURES * Float64Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#figures = new Float64Array(shared);
  }

  answered(status: CacheStatus): void {
    this.#figures[CACHE_STATUSES.indexOf(status)]!++;
  }

  /** So much is in memory now. */
  hold(octets: number): void {
    this.#figures[HELD] = octets;
  }

  /** Something went out of memory to make room. */
  evict(): void {
    this.#figures[EVICTED]!++;
  }

  requests(status: CacheStatus): number {
    return this.#figures[CACHE_STATUSES.indexOf(status)]!;
  }

  get heldOctets(): number {
    return this.#figures[HELD]!;
  }

  get evicted(): number {
    return this.#figures[EVICTED]!;
  }
}
