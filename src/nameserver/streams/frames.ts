/** Cuts a stream into messages, each with its length in two octets before it. RFC 1035 §4.2.2. */

const EMPTY = Buffer.alloc(0);
const NONE = -1;

/**
 * Takes octets in any pieces. A message that came whole is shown where it lies; one that came in pieces
 * is put together once, each octet copied once.
 */
export class Frames {
  /** The message that `next` found is `bytes[start, start + length)`. */
  bytes: Uint8Array = EMPTY;
  start = 0;
  length = 0;
  #chunk: Uint8Array = EMPTY;
  #at = 0;
  /** The first octet of a length whose second is still to come. */
  #high = NONE;
  /** A message that is still to come in part. */
  #partial: Uint8Array | null = null;
  #have = 0;

  /** Gives the next octets; what was given before must have been asked for to the end. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** Whether there is a further message. */
  next(): boolean {
    const chunk = this.#chunk;
    const at = this.#at;
    if (this.#partial !== null) return this.#fill(this.#partial);
    if (this.#high !== NONE && chunk.length > at)
      return this.#begin((this.#high << 8) | chunk[at]!, 1);
    const left = chunk.length - at;
    if (left >= 2) return this.#begin((chunk[at]! << 8) | chunk[at + 1]!, 2);
    if (left === 1) this.#high = chunk[at]!;
    return this.#spent();
  }

  /** Whether a message has begun that is not whole yet. */
  get isPartial(): boolean {
    return this.#partial !== null || this.#high !== NONE;
  }

  /** A message of this length, behind the octets that told it. */
  #begin(length: number, octets: number): boolean {
    this.#high = NONE;
    const start = this.#at + octets;
    if (this.#chunk.length - start >= length) {
      this.bytes = this.#chunk;
      this.start = start;
      this.length = length;
      this.#at = start + length;
      return true;
    }
    this.#at = start;
    this.#have = 0;
    this.#partial = Buffer.allocUnsafeSlow(length);
    return this.#fill(this.#partial);
  }

  #fill(partial: Uint8Array): boolean {
    const piece = this.#chunk.subarray(this.#at, this.#at + partial.length - this.#have);
    partial.set(piece, this.#have);
    this.#have += piece.length;
    this.#at += piece.length;
    if (this.#have < partial.length) return this.#spent();
    this.#partial = null;
    this.bytes = partial;
    this.start = 0;
    this.length = partial.length;
    return true;
  }

  #spent(): false {
    this.#chunk = EMPTY; // Lets go of the memory.
    this.#at = 0;
    this.bytes = EMPTY;
    return false;
  }
}
