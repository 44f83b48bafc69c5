/** One connection to a server behind us, which carries a request at a time. */
import type { OnReadOpts, Socket } from "node:net";
import { outliveBrokenPipe } from "./broken-pipe.ts";
import { adopt } from "./loop/adopt.ts";
import { asOwn } from "./loop/as-own.ts";
import { ReadRoom } from "./read-room.ts";
import { ResponseFault, type ResponseHead, ResponseParser } from "./response-parser.ts";

/** Who hears of the answer. After `end` or `fail` nothing more comes. */
export interface AnswerSink {
  /** News before the answer. */
  interim?(head: ResponseHead): void;
  head(head: ResponseHead): void;
  /** Their memory is used again when `free` was called; who keeps them never calls it. */
  data(octets: Buffer, free: () => void): void;
  end(trailers: readonly string[]): void;
  /** `answered` tells whether any of the answer had come. */
  fail(cause: Error, answered: boolean): void;
  /** The server speaks another protocol from here on: the connection is the caller's. */
  switched?(socket: Socket, first: Buffer): void;
  /** The connection takes octets of the request's body again. */
  drained?(): void;
}

/** A request on its way. */
export interface Exchange {
  /** Sends octets of the body; false says to wait until `drained`. */
  write(octets: Buffer | string): boolean;
  /** The same as one chunk. RFC 9112 §7.1. */
  writeChunk(octets: Buffer): boolean;
  /** The body is whole. A connection whose request was not is not used again. */
  finish(): void;
  pause(): void;
  resume(): void;
  /** Gives it up: the connection goes with it. */
  abort(): void;
  /** Whether the connection had carried another request before: it may have been closed meanwhile. */
  readonly isReused: boolean;
}

interface Owner {
  /** Of a body; see the options of an upstream. */
  readonly readsAtOnce: number;
  free(): void;
  gone(): void;
}

/** A body up to here leaves with its head in one write, if it is at hand. */
const ONE_WRITE_BYTES = 8 * 1024;

export class Connection implements Exchange {
  freeSince = 0;
  isReused = false;
  #socket: Socket;
  readonly #owner: Owner;
  readonly #parser: ResponseParser;
  readonly #room = new ReadRoom();
  #sink: AnswerSink | null = null;
  /** Of a request whose body may be at hand in a moment. */
  #head: string | null = null;
  #answered = false;
  /** Of an answer that is whole, and not told so yet. */
  #trailers: readonly string[] | null = null;
  #keepsAlive = false;
  #wasUsed = false;
  #isWhole = false;
  /** Some of the body may lie unread on the other side. */
  #mayBeUnread = false;
  #isSwitched = false;
  #hasLeft = false;
  #timer: NodeJS.Timeout | null;

  constructor(open: (onread: OnReadOpts) => Socket, connectMs: number, owner: Owner) {
    this.#owner = owner;
    this.#parser = new ResponseParser({
      interim: (head) => this.#sink?.interim?.(head),
      head: (head) => {
        if (head.status === 101 && this.#sink?.switched === undefined) {
          throw new ResponseFault("The answer is another protocol, and nobody asked for one");
        }
        this.#answered = true;
        this.#sink?.head(head);
      },
      data: (octets) => this.#sink?.data(octets, this.#room.lend()),
      end: (reusable, trailers) => {
        this.#keepsAlive = reusable;
        this.#trailers = trailers;
      },
    });
    const socket = open(this.#onread);
    this.#socket = socket;
    socket.setNoDelay(true);
    outliveBrokenPipe(socket);
    this.#timer = setTimeout(() => {
      socket.destroy(new Error(`No connection within ${connectMs} ms`));
    }, connectMs);
    socket.once("connect", () => this.#connected());
    socket.on("data", (octets: Buffer) => this.#take(octets));
    this.#listen(socket);
  }

  /** What a connection is read into is used again. */
  readonly #onread: OnReadOpts = {
    buffer: () => this.#room.next(this.#parser.expected),
    callback: (length, buffer) => this.#read((buffer as Buffer).subarray(0, length)),
  };

  #listen(socket: Socket): void {
    socket.on("drain", () => this.#sink?.drained?.());
    socket.on("error", (cause) => this.#lose(cause));
    socket.on("end", () => this.#lose(null));
    socket.on("close", () => this.#lose(null));
  }

  /** Nothing is under way: what is sent next goes by the thread's own loop, where there is one. */
  #adopt(): void {
    if (asOwn(this.#socket) !== null) return;
    const own = adopt(this.#socket, { onread: this.#onread, outlivesBrokenPipe: true });
    if (own === null) return;
    // It is near enough to Node's for all that is done with it here.
    this.#socket = own as unknown as Socket;
    this.#listen(this.#socket);
  }

  /** Also where nobody has been told yet. */
  get isGone(): boolean {
    return this.#hasLeft || this.#socket.destroyed;
  }

  send(method: string, head: string, sink: AnswerSink): void {
    this.#sink = sink;
    this.#answered = false;
    this.isReused = this.#wasUsed;
    this.#wasUsed = true;
    this.#isWhole = false;
    this.#mayBeUnread = false;
    this.#parser.expect(method);
    this.#head = head;
    queueMicrotask(this.#flushSoon); // Unless its body is here by then.
  }

  write(octets: Buffer | string): boolean {
    const head = this.#head;
    const { length } = octets;
    if (head === null || length > ONE_WRITE_BYTES) {
      this.#sendsApart();
      return this.#socket.write(octets, "latin1");
    }
    this.#head = null;
    this.#mayBeUnread = length > this.#owner.readsAtOnce;
    const body = typeof octets === "string" ? octets : octets.toString("latin1");
    return this.#socket.write(head + body, "latin1");
  }

  writeChunk(octets: Buffer): boolean {
    const socket = this.#socket;
    socket.cork();
    this.#sendsApart();
    socket.write(`${octets.length.toString(16)}\r\n`, "latin1");
    socket.write(octets);
    socket.write("\r\n", "latin1");
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  finish(): void {
    this.#isWhole = true;
    this.#flush();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  abort(): void {
    this.#sink = null;
    if (!this.#hasLeft) this.#leave(); // Now, not when the system has closed it.
    this.#socket.destroy();
  }

  /** Whoever waits for an answer hears of it. */
  end(cause: Error): void {
    this.#lose(cause);
  }

  /** The body may be read from its own connection before this one's turn ends. */
  readonly #flushSoon = (): void => {
    if (this.#head !== null) setImmediate(this.#flush);
  };

  readonly #flush = (): void => {
    const head = this.#head;
    if (head === null) return;
    this.#head = null;
    this.#socket.write(head, "latin1");
  };

  /** Octets of the body follow the head at some time. */
  #sendsApart(): void {
    this.#flush();
    this.#mayBeUnread = this.#owner.readsAtOnce !== Infinity;
  }

  #connected(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #take(octets: Buffer): void {
    try {
      const rest = this.#parser.take(octets);
      if (rest !== null) this.#handOver(rest);
      if (this.#trailers !== null) this.#end(this.#trailers);
    } catch (cause) {
      this.#socket.destroy(cause as Error);
    }
  }

  /** Into room that is used again. Tells whether to go on. */
  #read(octets: Buffer): boolean {
    if (this.#isSwitched) return this.#socket.push(Buffer.from(octets));
    this.#take(octets);
    return true;
  }

  #handOver(rest: Buffer): void {
    this.#isSwitched = true;
    const sink = this.#sink;
    this.#sink = null;
    this.#leave();
    this.#socket.removeAllListeners();
    const socket = asOwn(this.#socket)?.toNode() ?? this.#socket;
    socket.on("error", () => socket.destroy());
    if (sink?.switched === undefined) socket.destroy();
    else sink.switched(socket, Buffer.from(rest));
  }

  /** All that was read belongs to the answer: whoever hears of its end may send the next request at once. */
  #end(trailers: readonly string[]): void {
    const sink = this.#sink;
    this.#sink = this.#trailers = null;
    const isClean = this.#keepsAlive && this.#isWhole && !this.#mayBeUnread;
    if (isClean && sink !== null && !this.isGone) {
      this.freeSince = performance.now();
      this.#socket.resume();
      this.#adopt();
      this.#owner.free();
    } else this.#socket.destroy();
    sink?.end(trailers);
  }

  #lose(cause: Error | null): void {
    if (this.#hasLeft) return;
    let why = cause;
    try {
      if (cause === null) this.#parser.close();
    } catch (fault) {
      why = fault as ResponseFault;
    }
    this.#leave();
    this.#socket.destroy();
    if (this.#trailers !== null) return this.#end(this.#trailers);
    const sink = this.#sink;
    this.#sink = null;
    sink?.fail(why ?? new ResponseFault("The connection was closed"), this.#answered);
  }

  #leave(): void {
    this.#connected();
    this.#hasLeft = true;
    this.#head = null;
    this.#room.leave();
    this.#owner.gone();
  }
}
