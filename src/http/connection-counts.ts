/** How many connections a listener has, in all and by source: of one thread, or of all that share an address. */

export interface ConnectionCounts {
  /** In all. */
  readonly open: number;
  from(source: string): number;
  add(source: string): void;
  remove(source: string): void;
}

export class OwnConnections implements ConnectionCounts {
  readonly #sources = new Map<string, number>();
  #open = 0;

  get open(): number {
    return this.#open;
  }

  from(source: string): number {
    return this.#sources.get(source) ?? 0;
  }

  add(source: string): void {
    this.#open++;
    this.#sources.set(source, this.from(source) + 1);
  }

  remove(source: string): void {
    this.#open--;
    const left = this.from(source) - 1;
    if (left === 0) this.#sources.delete(source);
    else this.#sources.set(source, left);
  }
}

/**
 * A source has a place in two tables and counts as the lower of the two, which is too high only where others share
 * both: with 10,000 sources that is one in two hundred.
 */
const PLACES = 2 ** 17;
const TABLES = 2;
/** The count in all comes before the tables. A page that nobody counts in takes no memory. */
const THREAD_OCTETS = (1 + TABLES * PLACES) * Int32Array.BYTES_PER_ELEMENT;

/** Each thread counts in a part of its own, so that one which dies takes its counts along; all are read together. */
export class SharedConnections implements ConnectionCounts {
  readonly #parts: readonly Int32Array[];
  readonly #own: Int32Array;
  /** Of this installation: nobody else knows which sources share a place. */
  readonly #seed: number;

  static memory(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * THREAD_OCTETS);
  }

  constructor(shared: SharedArrayBuffer, thread: number, seed: number) {
    const length = THREAD_OCTETS / Int32Array.BYTES_PER_ELEMENT;
    this.#parts = Array.from(
      { length: shared.byteLength / THREAD_OCTETS },
      (_, i) => new Int32Array(shared, i * THREAD_OCTETS, length),
    );
    this.#own = this.#parts[thread]!;
    this.#seed = seed;
  }

  get open(): number {
    return this.#sum(0);
  }

  from(source: string): number {
    const [one, other] = this.#placesOf(source);
    return Math.min(this.#sum(one), this.#sum(other));
  }

  add(source: string): void {
    this.#count(source, 1);
  }

  remove(source: string): void {
    this.#count(source, -1);
  }

  /** The thread has died, and its connections with it. */
  clear(): void {
    this.#own.fill(0);
  }

  /** Not plain sums: of two threads that count at once and then look, one must see the other. */
  #count(source: string, by: number): void {
    Atomics.add(this.#own, 0, by);
    for (const place of this.#placesOf(source)) Atomics.add(this.#own, place, by);
  }

  #sum(place: number): number {
    let sum = 0;
    for (const part of this.#parts) sum += Atomics.load(part, place);
    return sum;
  }

  #placesOf(source: string): [number, number] {
    return [1 + hash(source, this.#seed), 1 + PLACES + hash(source, ~this.#seed)];
  }
}

/** FNV-1a from a secret start, its octets mixed once more (MurmurHash3's last step). */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let i = 0; i < text.length; i++) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return ((value ^ (value >>> 16)) >>> 0) % PLACES;
}
