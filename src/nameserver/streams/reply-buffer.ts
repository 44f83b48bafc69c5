/** Memory in which the answers to a chunk of queries are gathered, each behind its length. */

export const LENGTH_OCTETS = 2;
const MAX_MESSAGE = 65_535;
/** Answers are sent when they have grown to this; one more of any size still fits behind. */
const GATHER_OCTETS = 64 * 1024;

export class ReplyBuffer {
  bytes = freshBuffer();
  #filled = 0;

  /** Where the next answer is to be written. */
  get at(): number {
    return this.#filled + LENGTH_OCTETS;
  }

  /** Takes the answer of this size that was written there; true when it is time to send. */
  add(size: number): boolean {
    const { bytes } = this;
    const at = this.#filled;
    bytes[at] = size >>> 8;
    bytes[at + 1] = size;
    this.#filled = at + LENGTH_OCTETS + size;
    return this.#filled >= GATHER_OCTETS;
  }

  /** What was added since the last call, valid until the next answer is written. */
  gathered(): Buffer {
    const all = this.bytes.subarray(0, this.#filled);
    this.#filled = 0;
    return all;
  }

  clear(): void {
    this.#filled = 0;
  }

  /** Leaves the memory to whoever still reads it. */
  replace(): void {
    this.bytes = freshBuffer();
  }
}

function freshBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(GATHER_OCTETS + LENGTH_OCTETS + MAX_MESSAGE);
}
