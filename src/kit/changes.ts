/**
 * Which things are being changed, counted in memory that all threads read. What was read of a thing while nobody
 * changed it is how it is until the next change begins; and that is known before anybody can see the change.
 */

/** Things share slots: while the one is changed, nothing is kept of the other. */
const SLOTS = 4096;
const SLOTS_OCTETS = SLOTS * Int32Array.BYTES_PER_ELEMENT;

export const CHANGES_OCTETS = 2 * SLOTS_OCTETS;

/** Things are known by a hash of their names. */
export class Changes {
  readonly #begun: Int32Array;
  readonly #ended: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(CHANGES_OCTETS), offset = 0) {
    this.#begun = new Int32Array(shared, offset, SLOTS);
    this.#ended = new Int32Array(shared, offset + SLOTS_OCTETS, SLOTS);
  }

  /** Before a change is asked for. */
  begin(hash: number): void {
    Atomics.add(this.#begun, hash % SLOTS, 1);
  }

  /** When it is made, or has failed. */
  end(hash: number): void {
    Atomics.add(this.#ended, hash % SLOTS, 1);
  }

  /** Under which what is read from now on may be kept; null while there is a change under way. */
  quiet(hash: number): number | null {
    const ended = Atomics.load(this.#ended, hash % SLOTS);
    return Atomics.load(this.#begun, hash % SLOTS) === ended ? ended : null;
  }

  /** Whether no change has begun since. */
  stands(hash: number, quiet: number): boolean {
    return Atomics.load(this.#begun, hash % SLOTS) === quiet;
  }
}
