/**
 * Memory that large bodies are gathered in, once: from there they are written to disk, and there the hashing thread
 * reads them. The slabs are parts of one stretch of shared memory, and none is the collector's business.
 */
import {
  MOST_LANES,
  PADDING_OCTETS,
  type SharedMemory,
  sharedMemory,
  STATES_OCTETS,
} from "#kit/md5-lanes.ts";

/** Half a millisecond's work for the thread, and enough for one write. Whole blocks of MD5. */
export const SLAB_OCTETS = 256 * 1024;

/** 12 MiB when all have been used; what never was takes no memory. */
const SLABS = 48;

/**
 * Slabs that only the thread holds: a body that finds no other gathers elsewhere, and has its pieces copied into these.
 * They are free again soon, since with so many pieces the thread waits for no more.
 */
const FOR_THREAD_ALONE = MOST_LANES;

/** The address of a slab. */
export function slabAt(slab: number): number {
  return STATES_OCTETS + slab * (SLAB_OCTETS + PADDING_OCTETS);
}

export class HashSlabs {
  readonly memory: SharedMemory = sharedMemory(slabAt(SLABS));
  readonly #octets = Array.from({ length: SLABS }, (_, slab) =>
    Buffer.from(this.memory.buffer, slabAt(slab), SLAB_OCTETS),
  );
  /** The last that came back is the next to go: the others may never have been used. */
  readonly #free = Array.from({ length: SLABS }, (_, i) => SLABS - 1 - i);
  /** Who has a slab: a body that gathers in it and has it written, the thread that hashes it, or both. */
  readonly #holders = new Uint8Array(SLABS);
  readonly #inLine: PromiseWithResolvers<number>[] = [];

  octets(slab: number): Buffer {
    return this.#octets[slab]!;
  }

  /** One that may be held for as long as a client takes to fill it, and a disk to take it; null when there are too few. */
  takeToFill(): number | null {
    return this.#free.length > FOR_THREAD_ALONE ? this.#held(this.#free.pop()!) : null;
  }

  /** One for the thread alone. */
  async take(): Promise<number> {
    const free = this.#free.pop();
    if (free !== undefined) return this.#held(free);
    const next = Promise.withResolvers<number>();
    this.#inLine.push(next);
    return next.promise;
  }

  /** The thread has it too from now on. */
  share(slab: number): void {
    this.#holders[slab]!++;
  }

  /** One of those who have it is done. */
  letGo(slab: number): void {
    if (--this.#holders[slab]! > 0) return;
    const next = this.#inLine.shift();
    if (next === undefined) this.#free.push(slab);
    else next.resolve(this.#held(slab));
  }

  #held(slab: number): number {
    this.#holders[slab] = 1;
    return slab;
  }

  /** Nobody will let go of anything any more. */
  fail(error: Error): void {
    for (const waiting of this.#inLine) waiting.reject(error);
    this.#inLine.length = 0;
  }
}
