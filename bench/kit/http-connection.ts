/** One kept-alive connection that has at most one request under way. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Histogram } from "./histogram.ts";
import { ResponseReader } from "./response-reader.ts";

/** What the connections of a run share. */
export interface Course {
  readonly latencies: Histogram;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
  requestsLeft: number;
}

/** A small answer comes in one read; a large one should not need thousands. */
const READ_BYTES = 64 * 1024;

export class HttpConnection implements Disposable {
  readonly opened: Promise<unknown>;
  readonly #request: Buffer;
  readonly #socket: Socket;
  readonly #reader = new ResponseReader();
  readonly #ended = Promise.withResolvers<void>();
  #course: Course | null = null;
  #sentAt = 0;

  constructor({ host, port, request }: { host: string; port: number; request: string }) {
    this.#request = Buffer.from(request, "latin1");
    this.#socket = connect({
      host,
      port,
      noDelay: true,
      // One buffer for all reads: a new one for each would be most of the generator's garbage.
      onread: {
        buffer: Buffer.allocUnsafe(READ_BYTES),
        callback: (length, buffer) => this.#take(buffer as Buffer, length),
      },
    });
    this.opened = once(this.#socket, "connect");
    this.#ended.promise.catch(() => {}); // A failure to connect is told by `opened`.
    this.#socket.on("error", this.#ended.reject);
    this.#socket.on("close", () => this.#ended.reject(new Error("The server closed a connection")));
  }

  /** Sends one request after the other; resolves with the last answer. */
  run(course: Course): Promise<void> {
    this.#course = course;
    this.#next(course, performance.now());
    return this.#ended.promise;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  /** Returns whether to go on reading. */
  #take(buffer: Buffer, length: number): boolean {
    const now = performance.now();
    try {
      const complete = this.#reader.take(buffer, length);
      if (complete === 0) return true;
      if (complete > 1 || this.#course === null) throw new Error("An answer nobody asked for");
      this.#course.latencies.record((now - this.#sentAt) * 1000);
      this.#next(this.#course, now);
    } catch (error) {
      this.#ended.reject(error);
      return false;
    }
    return true;
  }

  #next(course: Course, now: number): void {
    if (now >= course.endsAt || course.requestsLeft === 0) {
      this.#course = null;
      this.#ended.resolve();
      return;
    }
    course.requestsLeft--;
    this.#sentAt = now;
    this.#socket.write(this.#request);
  }
}
