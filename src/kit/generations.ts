/**
 * How often things have changed, in memory that all threads read. What a thread has learnt is good as long as the
 * counts under which it was told still stand; the main thread moves them before whoever asked for a change hears
 * that it is made.
 */
import { Changes, CHANGES_OCTETS } from "./changes.ts";

/** The counts that something depends on, as they were when it was told. */
export type Depends = readonly (readonly [slot: number, count: number])[];

/** Topics share slots: when two of them do, a change of the one has the other told again. */
const SLOTS = 4096;
const COUNTS_OCTETS = SLOTS * Int32Array.BYTES_PER_ELEMENT;

export class Generations {
  /** For the other threads. */
  readonly shared: SharedArrayBuffer;
  /** Of what changes too often to have whatever shares its slot told again. */
  readonly changes: Changes;
  readonly #counts: Int32Array;

  constructor(shared = new SharedArrayBuffer(COUNTS_OCTETS + CHANGES_OCTETS)) {
    this.shared = shared;
    this.#counts = new Int32Array(shared, 0, SLOTS);
    this.changes = new Changes(shared, COUNTS_OCTETS);
  }

  moved(topic: string): void {
    Atomics.add(this.#counts, slotOf(topic), 1);
  }

  allMoved(): void {
    for (let slot = 0; slot < SLOTS; slot++) Atomics.add(this.#counts, slot, 1);
  }

  /** To be taken before what depends on the topics is read. */
  of(...topics: readonly string[]): Depends {
    return topics.map((topic) => {
      const slot = slotOf(topic);
      return [slot, Atomics.load(this.#counts, slot)];
    });
  }

  stands(depends: Depends): boolean {
    for (const [slot, count] of depends) {
      if (Atomics.load(this.#counts, slot) !== count) return false;
    }
    return true;
  }
}

/** FNV-1a. */
function slotOf(topic: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < topic.length; i++) {
    hash = Math.imul(hash ^ topic.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0) % SLOTS;
}
