/**
 * Requests to servers behind us, over connections that are kept. Node's own client costs as much as its server
 * for each request; this one writes a head and parses one, and leaves the rest to the caller.
 */
import { connect, type NetConnectOpts, type OnReadOpts, type Socket } from "node:net";
import { outliveBrokenPipe } from "./broken-pipe.ts";
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

export interface UpstreamOptions {
  /** A socket that is not given `onread` does too, but is read into new memory each time. */
  readonly target: NetConnectOpts | ((onread: OnReadOpts) => Socket);
  /** A connection that waits longer than this is closed; shorter than the server would wait. */
  readonly idleMs: number;
  readonly connectMs: number;
  /** Whether the server can be sent another request behind a body that it may not have read. */
  readonly keepsAfterBody: boolean;
  /** Hears of each connection that is gone, whoever ended it. */
  readonly onGone?: () => void;
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

export class Upstream implements Disposable {
  readonly #options: UpstreamOptions;
  readonly #idle: Connection[] = [];
  readonly #all = new Set<Connection>();
  readonly #sweeps: NodeJS.Timeout;
  #closed = false;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#sweeps = setInterval(() => this.#sweep(), Math.max(options.idleMs / 2, 1)).unref();
  }

  /** Sends the head of a request, with the empty line behind it. `fresh` wants a new connection. */
  send(method: string, head: string, sink: AnswerSink, fresh = false): Exchange {
    if (this.#closed) throw new Error("The upstream is closed");
    let connection = fresh ? undefined : this.#idle.pop();
    while (connection?.isGone === true) connection = this.#idle.pop();
    connection ??= this.#connect();
    connection.send(method, head, sink);
    return connection;
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** Whether a request is under way. */
  get isBusy(): boolean {
    return this.#all.size > this.#idle.length;
  }

  /** Ends what waits, and what is under way. */
  [Symbol.dispose](): void {
    this.#closed = true;
    clearInterval(this.#sweeps);
    for (const connection of this.#all) connection.end(new Error("The connection was closed here"));
  }

  #connect(): Connection {
    const { target, connectMs, keepsAfterBody } = this.#options;
    const open = (onread: OnReadOpts) =>
      typeof target === "function" ? target(onread) : connect({ ...target, onread });
    const connection = new Connection(open, connectMs, {
      keepsAfterBody,
      free: () => this.#idle.push(connection),
      gone: () => {
        this.#options.onGone?.();
        this.#all.delete(connection);
        const at = this.#idle.indexOf(connection);
        if (at !== -1) this.#idle.splice(at, 1);
      },
    });
    this.#all.add(connection);
    return connection;
  }

  #sweep(): void {
    const before = performance.now() - this.#options.idleMs;
    for (const connection of this.#idle.filter(({ freeSince }) => freeSince < before)) {
      connection.abort();
    }
  }
}

interface Owner {
  readonly keepsAfterBody: boolean;
  free(): void;
  gone(): void;
}

class Connection implements Exchange {
  freeSince = 0;
  isGone = false;
  isReused = false;
  readonly #socket: Socket;
  readonly #owner: Owner;
  readonly #parser: ResponseParser;
  readonly #room = new ReadRoom();
  #sink: AnswerSink | null = null;
  #answered = false;
  #wasUsed = false;
  #isWhole = false;
  #hadBody = false;
  #isSwitched = false;
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
      end: (reusable, trailers) => this.#end(reusable, trailers),
    });
    const socket = open({
      buffer: () => this.#room.next(this.#parser.expected),
      callback: (length, buffer) => this.#read((buffer as Buffer).subarray(0, length)),
    });
    this.#socket = socket;
    socket.setNoDelay(true);
    outliveBrokenPipe(socket);
    this.#timer = setTimeout(() => {
      socket.destroy(new Error(`No connection within ${connectMs} ms`));
    }, connectMs);
    socket.once("connect", () => this.#connected());
    socket.on("data", (octets: Buffer) => this.#take(octets));
    socket.on("drain", () => this.#sink?.drained?.());
    socket.on("error", (cause) => this.#lose(cause));
    socket.on("end", () => this.#lose(null));
    socket.on("close", () => this.#lose(null));
  }

  send(method: string, head: string, sink: AnswerSink): void {
    this.#sink = sink;
    this.#answered = false;
    this.isReused = this.#wasUsed;
    this.#wasUsed = true;
    this.#isWhole = false;
    this.#hadBody = false;
    this.#parser.expect(method);
    this.#socket.write(head, "latin1");
  }

  write(octets: Buffer | string): boolean {
    this.#hadBody = true;
    return this.#socket.write(octets, "latin1");
  }

  writeChunk(octets: Buffer): boolean {
    const socket = this.#socket;
    this.#hadBody = true;
    socket.cork();
    socket.write(`${octets.length.toString(16)}\r\n`, "latin1");
    socket.write(octets);
    const goesOn = socket.write("\r\n", "latin1");
    socket.uncork();
    return goesOn;
  }

  finish(): void {
    this.#isWhole = true;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  abort(): void {
    this.#sink = null;
    if (!this.isGone) this.#leave(); // Now, not when the system has closed it.
    this.#socket.destroy();
  }

  /** Whoever waits for an answer hears of it. */
  end(cause: Error): void {
    this.#lose(cause);
  }

  #connected(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #take(octets: Buffer): void {
    try {
      const rest = this.#parser.take(octets);
      if (rest !== null) this.#handOver(rest);
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
    this.#socket.on("error", () => this.#socket.destroy());
    if (sink?.switched === undefined) this.#socket.destroy();
    else sink.switched(this.#socket, Buffer.from(rest));
  }

  #end(reusable: boolean, trailers: readonly string[]): void {
    const sink = this.#sink;
    this.#sink = null;
    const isClean = this.#isWhole && (this.#owner.keepsAfterBody || !this.#hadBody);
    if (reusable && isClean && sink !== null) {
      this.freeSince = performance.now();
      this.#socket.resume();
      this.#owner.free();
    } else this.#socket.destroy();
    sink?.end(trailers);
  }

  #lose(cause: Error | null): void {
    if (this.isGone) return;
    const sink = this.#sink;
    let why = cause;
    try {
      if (cause === null) this.#parser.close();
    } catch (fault) {
      why = fault as ResponseFault;
    }
    this.#leave();
    this.#socket.destroy();
    if (this.#sink === null || sink === null) return; // Its answer was whole, ended by the close.
    this.#sink = null;
    sink.fail(why ?? new ResponseFault("The connection was closed"), this.#answered);
  }

  #leave(): void {
    this.#connected();
    this.isGone = true;
    this.#room.leave();
    this.#owner.gone();
  }
}
