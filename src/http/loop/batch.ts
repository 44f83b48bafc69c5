/**
 * What a turn of the loop writes, which leaves when it is over: a client on the same machine that is woken with each
 * answer, and sleeps again before the next, costs more than the answers. A whole turn's wake it once.
 */
import type { SocketCalls } from "#kit/libc.ts";

export interface Sender {
  /** Sends octets that were written before, from where they lie. `flags` are those of the call. */
  sendAt(address: number, at: number, length: number, flags: number): void;
}

/** What waits at most; with more than this none waits for the turn's end. */
const ARENA_BYTES = 256 * 1024;
/** Longer ones are worth a call of their own. */
export const MOST_BATCHED_BYTES = 32 * 1024;

export class Batch {
  /** Nothing else is to be waited for. */
  isAlone = true;
  readonly arena = Buffer.allocUnsafeSlow(ARENA_BYTES);
  readonly #address: number;
  readonly #senders: Sender[] = [];
  /** Of each sender: where its octets end. They begin where the last ones end. */
  readonly #ends: number[] = [];
  #used = 0;

  constructor(calls: SocketCalls) {
    this.#address = calls.addressOf(this.arena.buffer);
  }

  /** Where so many octets are to be put. They count when they are `added`. */
  place(length: number): number {
    if (this.#used + length > ARENA_BYTES) this.flush();
    return this.#used;
  }

  added(sender: Sender, length: number): void {
    this.#used += length;
    const last = this.#senders.length - 1;
    if (this.#senders[last] === sender) this.#ends[last] = this.#used;
    else {
      this.#senders.push(sender);
      this.#ends.push(this.#used);
    }
  }

  /** Of the one for whom more follows at once, the system is told so. */
  flush(more: Sender | null = null, moreFlags = 0): void {
    if (this.#used === 0) return;
    const senders = this.#senders.splice(0);
    const ends = this.#ends.splice(0);
    this.#used = 0;
    let at = 0;
    for (const [index, sender] of senders.entries()) {
      const end = ends[index]!;
      sender.sendAt(this.#address + at, at, end - at, sender === more ? moreFlags : 0);
      at = end;
    }
  }
}
