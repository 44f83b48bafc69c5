/**
 * A connection without Node's streams: what comes is read when it is there, what goes out is written at once. To those
 * who use it, it is a socket of Node's, as far as they use one.
 */
import { EventEmitter } from "node:events";
import { type OnReadOpts, Socket } from "node:net";
import type { HostPort } from "#kit/address.ts";
import {
  EAGAIN,
  EINTR,
  EPIPE,
  EPOLLERR,
  EPOLLET,
  EPOLLHUP,
  EPOLLIN,
  EPOLLOUT,
  SHUT_WR,
} from "#kit/libc.ts";
import { closedError, readError } from "./errors.ts";
import type { Loop } from "./loop.ts";
import { type Done, Outbox, type OutboxOwner } from "./outbox.ts";
import type { Watcher } from "./readiness.ts";

export interface LoopSocketOptions {
  /** Where it is read into, in place of new memory with each `data`. */
  readonly onread?: OnReadOpts;
  /** What cannot be written counts as written: what can still be read tells how it went. */
  readonly outlivesBrokenPipe?: boolean;
}

/** Emits `data`, `end`, `drain`, `timeout`, `error`, where somebody listens to it, and `close`. */
export class LoopSocket extends EventEmitter implements Watcher, OutboxOwner {
  readonly fd: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  bytesRead = 0;
  /** Octets of files that were sent since something came, or others had their turn. */
  bytesMoved = 0;
  destroyed = false;
  /** Nothing more may be written. */
  writableEnded = false;
  readonly #loop: Loop;
  readonly #outbox: Outbox;
  readonly #options: LoopSocketOptions;
  /** What the system is asked for. */
  #events = EPOLLIN;
  #isPaused = false;
  #hasEnded = false;
  /** It closes when all is written. */
  #isLast = false;
  #timer: NodeJS.Timeout | null = null;
  #whenRoom: (() => void) | null = null;

  constructor(loop: Loop, fd: number, { host, port }: HostPort, options: LoopSocketOptions = {}) {
    super();
    this.#loop = loop;
    this.#options = options;
    this.#outbox = new Outbox(loop, this);
    this.fd = fd;
    this.remoteAddress = host;
    this.remotePort = port;
  }

  get writable(): boolean {
    return !this.destroyed && !this.writableEnded;
  }

  get writableLength(): number {
    return this.#outbox.waiting + this.#outbox.batched;
  }

  /** The system holds a good deal for a connection: who has not taken that gets no more. */
  get writableNeedDrain(): boolean {
    return this.#outbox.waiting > 0;
  }

  /** Nothing comes before. False if the connection cannot be watched. */
  begin(): boolean {
    return this.#loop.readiness.watch(this, this.#events);
  }

  ready(events: number): void {
    this.bytesMoved = 0;
    const isBroken = (events & (EPOLLERR | EPOLLHUP)) !== 0;
    if (this.#hasEnded) {
      if (isBroken) this.destroy(); // There is nothing more to be read that could tell why.
    } else if (!this.#isPaused && (events & ~EPOLLOUT) !== 0) this.#read();
    // What waits to be written fails, and who is paused finds what there is to read when they go on.
    if ((events & EPOLLOUT) !== 0 || isBroken) this.#writeMore();
  }

  pause(): this {
    this.#isPaused = true;
    this.#watch();
    return this;
  }

  resume(): this {
    this.#isPaused = false;
    this.#watch();
    return this;
  }

  isPaused(): boolean {
    return this.#isPaused;
  }

  /** False says to wait for `drain`. */
  write(given: string | Uint8Array, encoding?: BufferEncoding | Done, done?: Done): boolean {
    const told = typeof encoding === "function" ? encoding : done;
    if (!this.writable) {
      if (told !== undefined) process.nextTick(told, closedError());
      return false;
    }
    this.#outbox.write(given, typeof encoding === "string" ? encoding : "utf8", told);
    return this.#written();
  }

  /** Head and body of an answer. */
  writeBoth(head: string, octets: Uint8Array): void {
    if (!this.writable) return;
    this.#outbox.writeBoth(head, octets);
    this.#written();
  }

  cork(): void {
    this.#outbox.cork();
  }

  uncork(): void {
    this.#outbox.uncork();
  }

  /** Octets of a file behind what was written: how many the system took, null if it refuses. */
  sendFile(file: number, placeAddress: number, count: number): number | null {
    if (!this.writable) return null;
    const sent = this.#outbox.sendFile(file, placeAddress, count);
    this.#written();
    this.bytesMoved += sent ?? 0;
    return sent;
  }

  /** Calls back once, when the system takes more or the connection has gone. */
  whenRoom(call: () => void): void {
    if (this.destroyed) return call();
    this.#whenRoom = call;
    this.#watch();
  }

  end(given?: string | Uint8Array): this {
    if (!this.writable) return this;
    if (given !== undefined) this.write(given);
    this.writableEnded = true;
    this.#outbox.flushBatch();
    if (this.#outbox.waiting === 0) this.#finish();
    return this;
  }

  /** Closes when what was written is on its way. */
  destroySoon(): void {
    this.#isLast = true;
    if (this.writableEnded && this.#outbox.waiting === 0) this.destroy();
    else this.end();
  }

  destroy(cause?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.#outbox.flushBatch();
    this.#leave();
    this.#loop.calls.close(this.fd);
    const unsent = this.#outbox.drop();
    process.nextTick(() => {
      for (const { done } of unsent) done?.(cause ?? closedError());
      this.#tellOfRoom();
      if (cause !== undefined && this.listenerCount("error") > 0) this.emit("error", cause);
      this.emit("close");
    });
    return this;
  }

  /** A socket of Node's goes on with the connection. Here nobody hears of it again. */
  toNode(): Socket {
    if (this.destroyed) throw closedError();
    this.destroyed = true;
    this.#outbox.flushBatch();
    this.#leave();
    const socket = new Socket({ fd: this.fd, allowHalfOpen: true, readable: true, writable: true });
    for (const { octets, done } of this.#outbox.drop()) socket.write(octets, done);
    return socket;
  }

  /** Emits `timeout` when nothing has moved for so long. */
  setTimeout(ms: number): this {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer =
      ms === 0 || this.destroyed ? null : setTimeout(() => this.emit("timeout"), ms).unref();
    return this;
  }

  #leave(): void {
    this.destroyed = true;
    this.setTimeout(0);
    this.#loop.readiness.forget(this);
  }

  #read(): void {
    const { calls, room, roomAddress } = this.#loop;
    const { onread } = this.#options;
    const buffer = onread === undefined ? room : roomOf(onread);
    const count =
      onread === undefined
        ? calls.recv(this.fd, roomAddress, room.length, 0)
        : calls.recvOctets(this.fd, buffer, buffer.length, 0);
    if (count > 0) {
      this.bytesRead += count;
      this.#timer?.refresh();
      if (onread !== undefined) onread.callback(count, buffer);
      else this.emit("data", Buffer.copyBytesFrom(room, 0, count));
    } else if (count === 0) this.#readEnd();
    else {
      const errno = calls.errno();
      if (errno !== EAGAIN && errno !== EINTR) this.destroy(readError(errno));
    }
  }

  /** A write may have met the reset, of which a read says nothing then. */
  #readEnd(): void {
    const { refusal } = this.#outbox;
    if (refusal !== null && refusal !== EPIPE) {
      this.destroy(readError(refusal));
      return;
    }
    this.#hasEnded = true;
    this.#watch();
    this.emit("end");
  }

  unsent(): void {
    if (this.#outbox.refusal === null) this.#watch();
    else process.nextTick(() => this.destroyed || this.#fail());
  }

  /** Returns whether the system took all. */
  #written(): boolean {
    if (this.#outbox.refusal !== null) this.#fail();
    else if (this.#outbox.waiting > 0) this.#watch();
    else this.#timer?.refresh();
    return this.#outbox.waiting === 0;
  }

  #fail(): void {
    if (this.#options.outlivesBrokenPipe !== true) return void this.destroy();
    const dropped = this.#outbox.drop();
    process.nextTick(() => {
      for (const { done } of dropped) done?.();
      if (dropped.length > 0 && !this.destroyed) this.emit("drain");
    });
  }

  #writeMore(): void {
    if (this.destroyed) return;
    const hadWaiting = this.#outbox.waiting > 0;
    if (hadWaiting && this.#outbox.flush()) this.#timer?.refresh();
    if (!this.#written()) return;
    this.#tellOfRoom();
    this.#watch();
    if (this.writableEnded) this.#finish();
    else if (hadWaiting && !this.destroyed) this.emit("drain");
  }

  /** All is written, and nothing more will be. */
  #finish(): void {
    if (this.destroyed) return;
    this.#loop.calls.shutdown(this.fd, SHUT_WR);
    if (this.#isLast) this.destroy();
  }

  #tellOfRoom(): void {
    const call = this.#whenRoom;
    this.#whenRoom = null;
    call?.();
  }

  #watch(): void {
    if (this.destroyed) return;
    const reads = this.#isPaused || this.#hasEnded ? 0 : EPOLLIN;
    const writes = this.#outbox.waiting > 0 || this.#whenRoom !== null ? EPOLLOUT : 0;
    // That it is broken is told in any case, for ever if it is not asked to be told once.
    const events = reads | writes || EPOLLET;
    if (this.#events === events) return;
    this.#events = events;
    this.#loop.readiness.change(this, this.#events);
  }
}

function roomOf({ buffer }: OnReadOpts): Uint8Array {
  return typeof buffer === "function" ? buffer() : buffer;
}
