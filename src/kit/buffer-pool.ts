/**
 * Buffers that are filled again and again. One that is made for each read costs many times what filling it does: V8
 * counts its memory towards the next marking of the whole heap.
 */
export class BufferPool {
  readonly #octets: number;
  readonly #mostFree: number;
  readonly #free: Buffer[] = [];

  /** Of so many octets each. While nobody uses them, so many are kept. */
  constructor(octets: number, mostFree: number) {
    this.#octets = octets;
    this.#mostFree = mostFree;
  }

  /** It holds what somebody else has left in it. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#octets);
  }

  /**
   * Nobody may read or write it from here on, nor may the system. What is not certain to be done with is
   * better left to the garbage.
   */
  give(buffer: Buffer): void {
    if (this.#free.length < this.#mostFree) this.#free.push(buffer);
    else giveBack(buffer);
  }
}

/** Gives the memory of octets back at once, before the collector comes to it. They are empty from then on. */
export function giveBack({ buffer, length }: Uint8Array): void {
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === length;
  if (isOwn) buffer.transfer(0); // Else others have a share in it.
}
