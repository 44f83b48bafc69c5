/**
 * What was read of users and tokens within the last second. A busy client shows the same
 * credentials thousands of times; on PostgreSQL each look would be a round trip.
 *
 * A change made on this node is seen at once, on all its threads: whoever writes calls `forget`. A
 * change made on another node is seen when the second is over.
 */
import { type Depends, Generations } from "#kit/generations.ts";

const FRESH_MS = 1_000;

/** Past this everything is forgotten; it comes back with the next request. */
const MAX_ENTRIES = 10_000;

/** Of what is remembered here, among the counts that threads share. */
const TOPIC = "credentials";

export class Recent {
  readonly #now: () => number;
  readonly #generations: Generations;
  readonly #entries = new Map<string, { readonly value: unknown; readonly readAt: number }>();
  /** What all entries depend on. */
  #depends: Depends;

  constructor(now: () => number, generations = new Generations()) {
    this.#now = now;
    this.#generations = generations;
    this.#depends = generations.of(TOPIC);
  }

  /** The value under the key, read anew when it is not fresh. What is missing is not remembered. */
  get<T>(key: string, read: () => Promise<T | null>): T | Promise<T | null> {
    if (!this.#generations.stands(this.#depends)) {
      this.#entries.clear();
      this.#depends = this.#generations.of(TOPIC);
    }
    const now = this.#now();
    const entry = this.#entries.get(key);
    // A clock set back must not make an entry last.
    if (entry !== undefined && Math.abs(now - entry.readAt) < FRESH_MS) return entry.value as T;
    return this.#read(key, read, now);
  }

  async #read<T>(key: string, read: () => Promise<T | null>, readAt: number): Promise<T | null> {
    const depends = this.#depends;
    const value = await read();
    // A write that ended during the read may be newer than what was read.
    if (value !== null && this.#generations.stands(depends)) {
      if (this.#entries.size >= MAX_ENTRIES) this.#entries.clear();
      this.#entries.set(key, { value, readAt });
    }
    return value;
  }

  /** Called after every write to what is remembered here. */
  forget(): void {
    this.#generations.moved(TOPIC);
  }
}
