/**
 * Requests to servers behind us, over connections that are kept. Node's own client costs as much as its server
 * for each request; this one writes a head and parses one, and leaves the rest to the caller.
 */
import { connect, type NetConnectOpts, type OnReadOpts, type Socket } from "node:net";
import { type AnswerSink, Connection, type Exchange } from "./upstream-connection.ts";

export interface UpstreamOptions {
  /** A socket that is not given `onread` does too, but is read into new memory each time. */
  readonly target: NetConnectOpts | ((onread: OnReadOpts) => Socket);
  /** A connection that waits longer than this is closed; shorter than the server would wait. */
  readonly idleMs: number;
  readonly connectMs: number;
  /**
   * Octets of a body that the server reads also when it does not want them, if they come with the head; Infinity of one
   * that reads all of any body. A connection with others is not used again: what is left could be taken for a request.
   */
  readonly readsAtOnce: number;
  /** Hears of each connection that is gone, whoever ended it. */
  readonly onGone?: () => void;
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
    const { target, connectMs, readsAtOnce } = this.#options;
    const open = (onread: OnReadOpts) =>
      typeof target === "function" ? target(onread) : connect({ ...target, onread });
    const connection = new Connection(open, connectMs, {
      readsAtOnce,
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
