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
  /** Something of the batch could not be sent: what waits, or that it has failed, is to be looked at. */
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
    const isLatin = typeof given === "string" && encoding === "latin1";
    if (
      done !== undefined ||
      !this.#mayBatch(given.length) ||
      !(isLatin || given instanceof Uint8Array)
    ) {
      this.#send(octetsOf(given, encoding), done);
      return;
    }
    const at = this.#loop.batch.place(given.length);
    if (typeof given === "string") this.#loop.batch.arena.write(given, at, "latin1");
    else this.#loop.batch.arena.set(given, at);
    this.#batch(given.length);
  }

  /** A head of a character an octet, and the octets behind it. */
  writeBoth(head: string, octets: Uint8Array): void {
    const length = head.length + octets.length;
    if (!this.#mayBatch(length)) {
      this.write(head, "latin1");
      this.write(octets, "latin1");
      return;
    }
    const { batch } = this.#loop;
    const at = batch.place(length);
    batch.arena.write(head, at, "latin1");
    batch.arena.set(octets, at + head.length);
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
    if (this.waiting > 0 || this.refusal !== null) return 0;
    const sent = this.#loop.calls.sendfile(this.#owner.fd, file, placeAddress, count);
    return sent >= 0 ? sent : this.#isFull() ? 0 : null;
  }

  /** Offers the system what waits for the turn's end. */
  flushBatch(flags = 0): void {
    if (this.batched > 0) this.#loop.batch.flush(this, flags);
  }

  sendAt(address: number, at: number, length: number, flags: number): void {
    if (this.batched === 0) return; // It was dropped.
    this.batched -= length;
    const { calls, batch } = this.#loop;
    const sent =
      this.waiting > 0 ? 0 : calls.send(this.#owner.fd, address, length, MSG_NOSIGNAL | flags);
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

  #mayBatch(length: number): boolean {
    return this.waiting === 0 && this.refusal === null && length <= MOST_BATCHED_BYTES;
  }

  #batch(length: number): void {
    this.batched += length;
    const { batch, readiness } = this.#loop;
    batch.added(this, length);
    if (!batch.isAlone) readiness.flushSoon();
    else if (!this.#isCorked) batch.flush();
  }

  #send(octets: Uint8Array, done: Done | undefined): void {
    this.flushBatch(MSG_MORE);
    if (this.waiting > 0 || this.refusal !== null) {
      this.#keep(octets, 0, done);
      return;
    }
    const { calls } = this.#loop;
    const sent = calls.sendOctets(this.#owner.fd, octets, octets.length, MSG_NOSIGNAL);
    if (sent !== octets.length) this.#keep(octets, sent, done);
    else if (done !== undefined) process.nextTick(done); // Nobody expects to be told before the write returns.
  }

  /** Of these octets the system took so many; below 0 it took none, and may have refused. */
  #keep(octets: Uint8Array, sent: number, done: Done | undefined): void {
    if (sent < 0 && !this.#isFull()) this.refusal ??= this.#loop.calls.errno();
    const rest = sent > 0 ? octets.subarray(sent) : octets;
    (this.#pieces ??= []).push({ octets: rest, done });
    this.waiting += rest.length;
  }

  #isFull(): boolean {
    const errno = this.#loop.calls.errno();
    return errno === EAGAIN || errno === EINTR;
  }
}

function octetsOf(given: string | Uint8Array, encoding: BufferEncoding): Uint8Array {
  return typeof given === "string" ? Buffer.from(given, encoding) : given;
}
