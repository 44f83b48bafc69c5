/**
 * What a connection is read into. Octets are handed on where they lie, each piece with a function that says that nobody
 * needs it any more: when all are back, the memory is read into again. Who keeps a piece never calls it.
 */
import type { BufferPool } from "#kit/buffer-pool.ts";
import { transferBuffers } from "./transfer-buffers.ts";

/** Heads and most answers. Each connection has as much, also while it waits. */
const SMALL_BYTES = 16 * 1024;

export class ReadRoom {
  #small = smallPage();
  #page = this.#small;

  /** Where the next octets go, of which at most so many are expected. */
  next(expected: number): Buffer {
    if (expected > SMALL_BYTES) this.#useLarge();
    else this.#useSmall();
    return this.#page.buffer;
  }

  /** A piece of what was read last goes to somebody. */
  lend(): () => void {
    return this.#page.lend();
  }

  /** Nothing more is read. */
  leave(): void {
    if (this.#page === this.#small) return;
    this.#page.leave();
    this.#page = this.#small;
  }

  #useLarge(): void {
    if (this.#page !== this.#small && this.#page.isFree) return;
    this.leave();
    this.#page = new Page(transferBuffers.take(), transferBuffers);
  }

  #useSmall(): void {
    this.leave();
    if (!this.#small.isFree) this.#small = smallPage();
    this.#page = this.#small;
  }
}

function smallPage(): Page {
  return new Page(Buffer.allocUnsafeSlow(SMALL_BYTES), null);
}

class Page {
  readonly buffer: Buffer;
  readonly #pool: BufferPool | null;
  /** The connection's own, and one for each piece. */
  #uses = 1;

  constructor(buffer: Buffer, pool: BufferPool | null) {
    this.buffer = buffer;
    this.#pool = pool;
  }

  get isFree(): boolean {
    return this.#uses === 1;
  }

  lend(): () => void {
    this.#uses++;
    let isBack = false;
    return () => {
      if (!isBack) this.leave();
      isBack = true;
    };
  }

  leave(): void {
    if (--this.#uses === 0) this.#pool?.give(this.buffer);
  }
}
