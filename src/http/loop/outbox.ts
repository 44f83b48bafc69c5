/** What goes out on a connection: small pieces with the turn's others, and what the system does not take when it does. */
import { EAGAIN, EINTR, MSG_MORE, MSG_NOSIGNAL } from "#kit/libc.ts";
import { MOST_BATCHED_BYTES, type Sender } from "./batch.ts";
import type { Loop } from "./loop.ts";

export type Done = (error?: Error | null) => void;

interface Piece {
  readonly octets: Uint8Array;
  readonly done: Done | undefined;
}

export interface OutboxOwner {
  readonly fd: number;
  /** Something of the batch could not be sent. Nothing may be closed before this returns: the rest is still to be sent. */
  unsent(): void;
}

export class Outbox implements Sender {
  readonly #loop: Loop;
  readonly #owner: OutboxOwner;
  /** Octets that the system has not taken. */
  waiting = 0;
  /** Octets that it has not been offered. */
  batched = 0;
  /** Why the system takes nothing any more: the other end is gone. */
  refusal: number | null = null;
  #pieces: Piece[] | null = null;
  #isCorked = false;

  constructor(loop: Loop, owner: OutboxOwner) {
    this.#loop = loop;
    this.#owner = owner;
  }

  write(given: string | Uint8Array, encoding: BufferEncoding, done?: Done): void {
    const { length } = given;
    if (length === 0) return tell(done);
    const isOctets = typeof given !== "string" || encoding === "latin1";
    const at = isOctets && done === undefined ? this.#place(length) : null;
    if (at === null) {
      this.#send(octetsOf(given, encoding), done);
      return;
    }
    const { arena } = this.#loop.batch;
    if (typeof given === "string") arena.write(given, at, "latin1");
    else arena.set(given, at);
    this.#batch(length);
  }

  /** A head of a character an octet, and the octets behind it. */
  writeBoth(head: string, octets: Uint8Array): void {
    const length = head.length + octets.length;
    const at = this.#place(length);
    if (at === null) {
      this.write(head, "latin1");
      this.write(octets, "latin1");
      return;
    }
    const { arena } = this.#loop.batch;
    arena.write(head, at, "latin1");
    arena.set(octets, at + head.length);
    this.#batch(length);
  }

  /** More is written at once. */
  cork(): void {
    this.#isCorked = true;
  }

  uncork(): void {
    this.#isCorked = false;
    if (this.#loop.batch.isAlone) this.flushBatch();
  }

  /** Octets of a file, behind what was written; null if the system refuses. The place in the file lies in memory. */
  sendFile(file: number, placeAddress: number, count: number): number | null {
    this.flushBatch(MSG_MORE);
    if (!this.#isFree) return 0;
    const sent = this.#loop.calls.sendfile(this.#owner.fd, file, placeAddress, count);
    if (sent >= 0) return sent;
    const errno = this.#loop.calls.errno();
    return errno === EAGAIN || errno === EINTR ? 0 : null;
  }

  /** Offers the system what waits for the turn's end. */
  flushBatch(flags = 0): void {
    if (this.batched > 0) this.#loop.batch.flush(this, flags);
  }

  sendAt(address: number, at: number, length: number, flags: number): void {
    if (this.batched === 0) return; // It was dropped, and its descriptor may be another's.
    this.batched -= length;
    const { calls, batch } = this.#loop;
    const sent = this.#isFree
      ? calls.send(this.#owner.fd, address, length, MSG_NOSIGNAL | flags)
      : 0;
    if (sent < 0) this.#noteRefusal();
    if (sent === length) return;
    this.#keep(Buffer.from(batch.arena.subarray(at, at + length)), sent, undefined);
    this.#owner.unsent();
  }

  /** The system takes more. Returns whether it took anything. */
  flush(): boolean {
    const before = this.waiting;
    const pieces = this.#pieces ?? [];
    this.#pieces = null;
    this.waiting = 0;
    for (const { octets, done } of pieces) this.#send(octets, done);
    return this.waiting < before;
  }

  /** Everything that will not be sent. */
  drop(): readonly Piece[] {
    const dropped = this.#pieces ?? [];
    this.#pieces = null;
    this.waiting = 0;
    this.batched = 0;
    return dropped;
  }

  /** Where so many octets may be put; null where they are not for the batch. Looked at again: room may be made by sending. */
  #place(length: number): number | null {
    if (length > MOST_BATCHED_BYTES || !this.#isFree) return null;
    const at = this.#loop.batch.place(length);
    return this.#isFree ? at : null;
  }

  get #isFree(): boolean {
    return this.waiting === 0 && this.refusal === null;
  }

  #batch(length: number): void {
    this.batched += length;
    const { batch, readiness } = this.#loop;
    batch.added(this, length);
    if (batch.isAlone && !this.#isCorked) batch.flush();
    else readiness.flushSoon();
  }

  #send(octets: Uint8Array, done: Done | undefined): void {
    this.flushBatch(MSG_MORE);
    const { calls } = this.#loop;
    const sent = this.#isFree
      ? calls.sendOctets(this.#owner.fd, octets, octets.length, MSG_NOSIGNAL)
      : 0;
    if (sent < 0) this.#noteRefusal();
    if (sent === octets.length) tell(done);
    else this.#keep(octets, sent, done);
  }

  /** Of these octets the system took so many, or none. */
  #keep(octets: Uint8Array, sent: number, done: Done | undefined): void {
    const rest = sent > 0 ? octets.subarray(sent) : octets;
    (this.#pieces ??= []).push({ octets: rest, done });
    this.waiting += rest.length;
  }

  /** Right behind the call that failed. */
  #noteRefusal(): void {
    const errno = this.#loop.calls.errno();
    if (errno !== EAGAIN && errno !== EINTR) this.refusal ??= errno;
  }
}

/** Nobody expects to be told before the write returns. */
function tell(done: Done | undefined): void {
  if (done !== undefined) process.nextTick(done);
}

function octetsOf(given: string | Uint8Array, encoding: BufferEncoding): Uint8Array {
  return typeof given === "string" ? Buffer.from(given, encoding) : given;
}
