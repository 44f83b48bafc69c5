/** One client over TCP or TLS: its queries in order, its answers as they come. RFC 7766. */
import type { Socket } from "node:net";
import type { Client } from "../client.ts";
import { DEFERRED } from "../responder.ts";
import { COUNT } from "./counters.ts";
import { Frames } from "./frames.ts";
import type { StreamLimits } from "./limits.ts";
import type { StreamResponder } from "./messages.ts";
import type { Place } from "./places.ts";
import { LENGTH_OCTETS, type ReplyBuffer } from "./reply-buffer.ts";

/** What the connections of a thread share. */
export interface StreamThread {
  responder: StreamResponder;
  readonly limits: StreamLimits;
  readonly counts: Float64Array;
  readonly replies: ReplyBuffer;
  /** Only ever goes on, unlike the time of day. */
  readonly now: () => number;
  /** Has a query answered elsewhere, which ends in a call of `answered`. */
  readonly defer: (query: Uint8Array, connection: Connection) => void;
  /** Hears of what the responder should never have thrown. */
  readonly onFault: (error: unknown) => void;
}

/** A header; what is shorter cannot even be refused. */
const MIN_MESSAGE = 12;
/** An outside name that is not known by then never will be, and the connection counts as idle. */
const LATE_ANSWER_MS = 30_000;

export class Connection {
  readonly client: Client;
  readonly #socket: Socket;
  readonly #place: Place;
  readonly #thread: StreamThread;
  /** TLS keeps what it is given until it is encrypted and sent. */
  readonly #keepsBytes: boolean;
  readonly #frames = new Frames();
  #unanswered = 0;
  #unansweredBytes = 0;
  /** The client does not take its answers as fast as it asks. */
  #isStalled = false;
  /** Nothing more is read; the connection ends when what was read is answered. */
  #isEnding = false;
  /** When the message began that is not whole yet; 0 when there is none. */
  #partialSince = 0;
  /** What the client had taken at the last look, and since when it has taken nothing. */
  #sent = 0;
  #sentAt = 0;

  constructor(socket: Socket, client: Client, place: Place, thread: StreamThread) {
    this.client = client;
    this.#socket = socket;
    this.#place = place;
    this.#thread = thread;
    this.#keepsBytes = "encrypted" in socket;
    socket.on("data", (chunk: Buffer) => {
      if (this.#isEnding) return;
      this.#frames.push(chunk);
      this.#proceed();
    });
    socket.on("drain", () => {
      this.#isStalled = false;
      this.#proceed();
    });
    socket.on("end", () => this.finish());
    socket.on("error", () => {}); // Clients go as they like; `close` follows.
  }

  /** Takes the answer to a deferred query; null when there is none to give. */
  answered(reply: Uint8Array | null, queryLength: number): void {
    this.#unanswered--;
    this.#unansweredBytes -= queryLength;
    if (!this.#socket.writable) return;
    if (reply !== null) {
      const framed = Buffer.allocUnsafe(LENGTH_OCTETS + reply.length);
      framed.writeUInt16BE(reply.length);
      framed.set(reply, LENGTH_OCTETS);
      this.#isStalled = !this.#socket.write(framed);
      this.#thread.counts[COUNT.answers]!++;
    }
    this.#place.touch(this.#thread.now());
    this.#proceed();
  }

  /** Reads no more, answers what was read, then closes. */
  finish(): void {
    this.#isEnding = true;
    this.#endWhenDone();
  }

  /** Closes at once, politely where the client still listens: TLS says that it was on purpose. */
  close(): void {
    if (this.#socket.writableLength === 0) this.#closeBehindAnswers();
    else this.#socket.destroy();
  }

  /** Whether its time is up; `idleMs` is what a quiet connection gets. */
  isOverdue(now: number, quietSince: number, idleMs: number): boolean {
    const { messageMs, stuckMs } = this.#thread.limits;
    if (this.#partialSince > 0 && !this.#isFull && now - this.#partialSince > messageMs)
      return true;
    const { writableLength: unsent, bytesWritten } = this.#socket;
    if (unsent === 0 || bytesWritten - unsent !== this.#sent) {
      this.#sent = bytesWritten - unsent;
      this.#sentAt = now;
    }
    if (unsent > 0) return now - this.#sentAt > stuckMs;
    return now - quietSince > (this.#unanswered > 0 ? LATE_ANSWER_MS : idleMs);
  }

  /** Answers what has come, as far as there is room for answers, and reads on or waits. */
  #proceed(): void {
    const now = this.#thread.now();
    const count = this.#answerAll();
    if (count > 0) this.#place.touch(now);
    const wasPaused = this.#socket.isPaused(); // Then the rest of a message could not come.
    if (!this.#frames.isPartial) this.#partialSince = 0;
    else if (count > 0 || wasPaused || this.#partialSince === 0) this.#partialSince = now;
    if (this.#isFull) this.#socket.pause();
    else if (wasPaused) this.#socket.resume();
    this.#endWhenDone();
  }

  /** Returns how many queries it took. */
  #answerAll(): number {
    const { responder, replies, counts, onFault } = this.#thread;
    const frames = this.#frames;
    let queries = 0;
    responder.begin(Date.now());
    try {
      while (!this.#isFull && frames.next()) {
        if (frames.length < MIN_MESSAGE) {
          this.#send();
          this.#closeBehindAnswers();
          break;
        }
        queries++;
        const { bytes, start, length } = frames;
        const size = responder.respond(
          bytes,
          start,
          length,
          this.client,
          replies.bytes,
          replies.at,
        );
        if (size > 0) {
          counts[COUNT.answers]!++;
          if (replies.add(size)) this.#send();
        } else if (size === DEFERRED) this.#defer(bytes.subarray(start, start + length));
      }
      this.#send();
    } catch (error) {
      replies.clear();
      this.#socket.destroy();
      onFault(error);
    } finally {
      responder.end();
    }
    counts[COUNT.queries]! += queries;
    return queries;
  }

  /** Whether it must wait before it is read on. */
  get #isFull(): boolean {
    const { unanswered, unansweredBytes } = this.#thread.limits;
    return (
      this.#isStalled || this.#unanswered >= unanswered || this.#unansweredBytes >= unansweredBytes
    );
  }

  #defer(query: Uint8Array): void {
    this.#unanswered++;
    this.#unansweredBytes += query.length;
    this.#thread.counts[COUNT.deferred]!++;
    this.#thread.defer(query, this);
  }

  /** Sends the answers that were gathered, in one go. */
  #send(): void {
    const socket = this.#socket;
    const { replies } = this.#thread;
    const gathered = replies.gathered();
    if (gathered.length === 0) return;
    if (this.#keepsBytes || socket.writableLength > 0) {
      this.#isStalled = !socket.write(Buffer.from(gathered));
      return;
    }
    this.#isStalled = !socket.write(gathered);
    // Mostly the system has taken all of it by now; else the memory is the socket's.
    if (socket.writableLength > 0) replies.replace();
  }

  #endWhenDone(): void {
    if (this.#isEnding && this.#unanswered === 0 && !this.#isFull) this.#closeBehindAnswers();
  }

  #closeBehindAnswers(): void {
    this.#isEnding = true;
    this.#socket.destroySoon();
  }
}
