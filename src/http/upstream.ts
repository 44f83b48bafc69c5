/**
 * Requests to servers behind us, over connections that are kept. Node's own client costs as much as its server
 * for each request; this one writes a head and parses one, and leaves the rest to the caller.
 */
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { ResponseFault, type ResponseHead, ResponseParser } from "./response-parser.ts";

/** Who hears of the answer. After `end` or `fail` nothing more comes. */
export interface AnswerSink {
  head(head: ResponseHead): void;
  data(octets: Buffer): void;
  end(): void;
  /** `answered` tells whether any of the answer had come. */
  fail(cause: Error, answered: boolean): void;
  /** The server speaks another protocol from here on: the connection is the caller's. */
  switched?(socket: Socket, first: Buffer): void;
  /** The connection takes octets of the request's body again. */
  drained?(): void;
}

export interface UpstreamOptions {
  readonly target: NetConnectOpts | (() => Socket);
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
    const socket = typeof target === "function" ? target() : connect(target);
    const connection = new Connection(socket, connectMs, {
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
  #sink: AnswerSink | null = null;
  #answered = false;
  #wasUsed = false;
  #isWhole = false;
  #hadBody = false;
  #timer: NodeJS.Timeout | null;

  constructor(socket: Socket, connectMs: number, owner: Owner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#parser = new ResponseParser({
      head: (head) => {
        if (head.status === 101 && this.#sink?.switched === undefined) {
          throw new ResponseFault("The answer is another protocol, and nobody asked for one");
        }
        this.#answered = true;
        this.#sink?.head(head);
      },
      data: (octets) => this.#sink?.data(octets),
      end: (reusable) => this.#end(reusable),
    });
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

  #handOver(rest: Buffer): void {
    const sink = this.#sink;
    this.#sink = null;
    this.#leave();
    this.#socket.removeAllListeners();
    this.#socket.on("error", () => this.#socket.destroy());
    if (sink?.switched === undefined) this.#socket.destroy();
    else sink.switched(this.#socket, rest);
  }

  #end(reusable: boolean): void {
    const sink = this.#sink;
    this.#sink = null;
    const isClean = this.#isWhole && (this.#owner.keepsAfterBody || !this.#hadBody);
    if (reusable && isClean && sink !== null) {
      this.freeSince = performance.now();
      this.#socket.resume();
      this.#owner.free();
    } else this.#socket.destroy();
    sink?.end();
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
    this.#owner.gone();
  }
}

type WriteDone = (error?: Error | null) => void;

/**
 * A server may answer and close before it has read the body. Node would end the socket with the first write that
 * fails, and the answer that waits in it with that; so such writes count as done, and the end of what can be
 * read tells how it went. `_write` and `_writev` are what a stream is made of, and may be given anew.
 */
function outliveBrokenPipe(socket: Socket): void {
  const [one, many] = ["_write", "_writev"] as const;
  const write = socket[one].bind(socket);
  const writev = socket[many]?.bind(socket);
  const unlessBroken =
    (done: WriteDone): WriteDone =>
    (error) =>
      done((error as NodeJS.ErrnoException | null)?.code === "EPIPE" ? null : error);
  socket[one] = (chunk, encoding, done) => write(chunk, encoding, unlessBroken(done));
  if (writev === undefined) return;
  socket[many] = (chunks, done) => writev(chunks, unlessBroken(done));
}
