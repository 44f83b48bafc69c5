/**
 * What was read of users and tokens within the last second. A busy client shows the same
 * credentials thousands of times; on PostgreSQL each look would be a round trip.
 *
 * A change made on this node is seen at once: whoever writes calls `forget`. A change made on
 * another node is seen when the second is over.
 */
const FRESH_MS = 1_000;

/** Past this everything is forgotten; it comes back with the next request. */
const MAX_ENTRIES = 10_000;

export class Recent {
  readonly #now: () => number;
  readonly #entries = new Map<string, { readonly value: unknown; readonly readAt: number }>();
  #generation = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The value under the key, read anew when it is not fresh. What is missing is not remembered. */
  get<T>(key: string, read: () => Promise<T | null>): T | Promise<T | null> {
    const now = this.#now();
    const entry = this.#entries.get(key);
    // A clock set back must not make an entry last.
    if (entry !== undefined && Math.abs(now - entry.readAt) < FRESH_MS) return entry.value as T;
    return this.#read(key, read, now);
  }

  async #read<T>(key: string, read: () => Promise<T | null>, readAt: number): Promise<T | null> {
    const generation = this.#generation;
    const value = await read();
    // A write that ended during the read may be newer than what was read.
    if (value !== null && generation === this.#generation) {
      if (this.#entries.size >= MAX_ENTRIES) this.#entries.clear();
      this.#entries.set(key, { value, readAt });
    }
    return value;
  }

  /** Called after every write to what is remembered here. */
  forget(): void {
    this.#generation++;
    this.#entries.clear();
  }
}
