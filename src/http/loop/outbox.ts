/** What goes out on a connection: written at once, as far as the system takes it, and the rest when it takes more. */
import { EAGAIN, EINTR, MSG_MORE, MSG_NOSIGNAL } from "#kit/libc.ts";
import type { Loop } from "./loop.ts";

export type Done = (error?: Error | null) => void;

interface Piece {
  readonly octets: Uint8Array;
  readonly done: Done | undefined;
}

export class Outbox {
  readonly #loop: Loop;
  readonly #fd: number;
  /** Octets that the system has not taken. */
  waiting = 0;
  /** The system has refused: the other end is gone. */
  hasFailed = false;
  #pieces: Piece[] | null = null;
  #corks = 0;
  /** What was written meanwhile. */
  #corked: Piece[] | null = null;

  constructor(loop: Loop, fd: number) {
    this.#loop = loop;
    this.#fd = fd;
  }

  write(given: string | Uint8Array, encoding: BufferEncoding, done?: Done): void {
    if (this.#corks > 0) (this.#corked ??= []).push({ octets: octetsOf(given, encoding), done });
    else if (typeof given === "string") this.#sendText(given, encoding, done);
    else this.#send(given, done, 0);
  }

  /** A head of a character an octet, and what follows it, in one call where there is room. */
  writeBoth(head: string, octets: Uint8Array): void {
    const { calls, room, roomAddress } = this.#loop;
    const length = head.length + octets.length;
    if (this.waiting > 0 || this.#corks > 0 || length > room.length) {
      this.cork();
      this.write(head, "latin1");
      this.write(octets, "latin1");
      this.uncork();
      return;
    }
    room.write(head, "latin1");
    room.set(octets, head.length);
    const sent = calls.send(this.#fd, roomAddress, length, MSG_NOSIGNAL);
    if (sent !== length) this.#keep(Buffer.from(room.subarray(0, length)), sent, undefined);
  }

  cork(): void {
    this.#corks++;
  }

  uncork(): void {
    if (this.#corks > 0) this.#corks--;
    if (this.#corks === 0) this.#sendCorked(0);
  }

  /** Octets of a file, behind what was written; null if the system refuses. The place in the file lies in memory. */
  sendFile(file: number, placeAddress: number, count: number): number | null {
    this.#sendCorked(MSG_MORE);
    if (this.waiting > 0) return 0;
    const sent = this.#loop.calls.sendfile(this.#fd, file, placeAddress, count);
    return sent >= 0 ? sent : this.#isFull() ? 0 : null;
  }

  /** The system takes more. Returns whether it took anything. */
  flush(): boolean {
    const before = this.waiting;
    const pieces = this.#pieces ?? [];
    this.#pieces = null;
    this.waiting = 0;
    for (const { octets, done } of pieces) this.#send(octets, done, 0);
    return this.waiting < before;
  }

  /** Everything that will not be sent. */
  drop(): Piece[] {
    const dropped = [...(this.#pieces ?? []), ...(this.#corked ?? [])];
    this.#pieces = this.#corked = null;
    this.waiting = 0;
    return dropped;
  }

  #sendCorked(flags: number): void {
    const corked = this.#corked;
    if (corked === null) return;
    this.#corked = null;
    for (const [index, { octets, done }] of corked.entries()) {
      this.#send(octets, done, index < corked.length - 1 ? MSG_MORE : flags);
    }
  }

  #sendText(text: string, encoding: BufferEncoding, done: Done | undefined): void {
    const { calls, room, roomAddress } = this.#loop;
    if (this.waiting > 0 || encoding !== "latin1" || text.length > room.length) {
      this.#send(octetsOf(text, encoding), done, 0);
      return;
    }
    const length = room.write(text, "latin1");
    const sent = calls.send(this.#fd, roomAddress, length, MSG_NOSIGNAL);
    if (sent === length) tell(done);
    else this.#keep(Buffer.from(room.subarray(0, length)), sent, done);
  }

  #send(octets: Uint8Array, done: Done | undefined, flags: number): void {
    if (this.waiting > 0 || this.hasFailed) return this.#keep(octets, 0, done);
    const { calls } = this.#loop;
    const sent = calls.sendOctets(this.#fd, octets, octets.length, MSG_NOSIGNAL | flags);
    if (sent === octets.length) tell(done);
    else this.#keep(octets, sent, done);
  }

  /** Of these octets the system took so many; below 0 it took none, and may have refused. */
  #keep(octets: Uint8Array, sent: number, done: Done | undefined): void {
    if (sent < 0 && !this.#isFull()) this.hasFailed = true;
    const rest = sent > 0 ? octets.subarray(sent) : octets;
    (this.#pieces ??= []).push({ octets: rest, done });
    this.waiting += rest.length;
  }

  #isFull(): boolean {
    const errno = this.#loop.calls.errno();
    return errno === EAGAIN || errno === EINTR;
  }
}

/** Later: who writes does not expect to be told before that has returned. */
function tell(done: Done | undefined): void {
  if (done !== undefined) process.nextTick(done);
}

function octetsOf(given: string | Uint8Array, encoding: BufferEncoding): Uint8Array {
  return typeof given === "string" ? Buffer.from(given, encoding) : given;
}
