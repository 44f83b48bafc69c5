/**
 * Connections as long as what comes on them is plain: requests that are read here and answered on the bare socket,
 * for less than Node's HTTP server takes. With the first that is anything else, a connection goes to Node.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { First, HandOver } from "../hand-over.ts";
import type { HttpLimits } from "../limits.ts";
import type { RejectedRequest } from "../rejected.ts";
import { type PlainHead, readHead } from "./head.ts";
import { PlainRequest } from "./request.ts";
import { type AnswerOwner, PlainResponse } from "./response.ts";

/** Longer bodies are better read as they come. */
const MAX_BODY_BYTES = 64 * 1024;
/** A head is looked through from its beginning with each piece that comes. Node goes on where it was. */
const MAX_HEAD_PIECES = 16;
/** What may come while a request is answered; beyond, the client has to wait. */
const MAX_WAITING_BYTES = 64 * 1024;
/** What a body that is on its way has to come to its end. Node has the clock for slower ones. */
const BODY_SECONDS = 1;
/** As Node has it: a client may send its next request just when its time is up. */
const IDLE_MORE_SECONDS = 1;

export interface LaneOptions {
  readonly limits: HttpLimits;
  readonly handle: RequestListener;
  /** Whether each answer is to be the last on its connection. */
  readonly isDraining: () => boolean;
  /** Says so to a client that was too slow, or left within a request, and ends the connection. */
  readonly reject: (socket: Socket, rejected: RejectedRequest) => void;
}

/** The same for each connection. */
interface ConnectionOptions extends LaneOptions {
  readonly keepAliveFields: string;
  /** Counted by looking: a thread that was held up must not take that for a client's slowness. */
  readonly clock: { seconds: number };
}

export class PlainLane {
  readonly #options: ConnectionOptions;
  readonly #connections = new Set<Connection>();

  constructor(options: LaneOptions) {
    const seconds = Math.floor(options.limits.idleSeconds);
    const keepAliveFields = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
    this.#options = { ...options, keepAliveFields, clock: { seconds: 0 } };
  }

  readonly take: First = (socket, handOver) => {
    this.#connections.add(new Connection(socket, this.#options, this.#connections, handOver));
  };

  /** Looks for what takes too long. To be called each second. */
  check(): void {
    const seconds = ++this.#options.clock.seconds;
    for (const connection of this.#connections) connection.check(seconds);
  }

  /** Closes what waits for a request. */
  closeIdle(): void {
    for (const connection of this.#connections) if (connection.isIdle) connection.close();
  }
}

class Connection implements AnswerOwner {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #others: Set<Connection>;
  readonly #toNode: HandOver;
  /** What was read and is not answered. */
  #octets: Buffer | null = null;
  /** Of a head that has not come to its end. */
  #pieces = 0;
  /** The request whose body is still to come. */
  #head: PlainHead | null = null;
  #response: PlainResponse | null = null;
  /** When it began to wait for what it waits for. */
  #since: number;
  #wasUsed = false;
  #isOver = false;
  #isReading = false;
  #hasClock = false;
  /** What may have come on the connection in all before no more of it is dropped. */
  #mostRead = 0;

  /** It is among the `others` for as long as it is here. */
  constructor(
    socket: Socket,
    options: ConnectionOptions,
    others: Set<Connection>,
    toNode: HandOver,
  ) {
    this.#socket = socket;
    this.#options = options;
    this.#others = others;
    this.#toNode = toNode;
    this.#since = options.clock.seconds;
    (socket as LaneSocket)[CONNECTION] = this;
    for (const event in listeners) socket.on(event, listeners[event as keyof typeof listeners]);
  }

  get keepAliveFields(): string | null {
    return this.#options.isDraining() ? null : this.#options.keepAliveFields;
  }

  get isIdle(): boolean {
    const { writableLength } = this.#socket;
    return this.#response === null && this.#octets === null && writableLength === 0;
  }

  close(): void {
    this.#socket.destroy();
  }

  check(now: number): void {
    if (this.#response !== null || this.#isOver) return;
    const { limits, reject } = this.#options;
    const waited = now - this.#since;
    if (this.#head !== null) {
      if (waited > BODY_SECONDS) this.#handOver();
    } else if (this.#socket.writableLength > 0) {
      this.#since = now; // An answer is on its way still.
      this.#useClock();
    } else if (this.#octets === null && this.#wasUsed) {
      if (waited > limits.idleSeconds + IDLE_MORE_SECONDS) this.close();
    } else if (waited > Math.min(limits.headerSeconds, limits.requestSeconds)) {
      this.#isOver = true;
      reject(this.#socket, { status: 408 });
    }
  }

  answered(isLast: boolean): void {
    this.#response = null;
    this.#wasUsed = true;
    this.#since = this.#options.clock.seconds;
    if (isLast || this.#socket.destroyed) this.#end();
    else if (!this.#isReading) this.#next();
  }

  take(chunk: Buffer): void {
    if (this.#isOver) {
      if (this.#socket.bytesRead > this.#mostRead) this.#socket.pause();
      return;
    }
    if (this.#octets === null) {
      this.#octets = chunk;
      if (this.#wasUsed) this.#since = this.#options.clock.seconds;
    } else this.#octets = Buffer.concat([this.#octets, chunk]);
    if (this.#response === null) this.#next();
    if (this.#mustWait && (this.#octets?.length ?? 0) > MAX_WAITING_BYTES) this.#socket.pause();
  }

  /** Who does not take an answer gets no other. */
  get #mustWait(): boolean {
    return this.#response !== null || this.#socket.writableNeedDrain;
  }

  /** Answers what is there, one after another. */
  #next(): void {
    this.#isReading = true;
    while (this.#octets !== null && !this.#mustWait && !this.#isOver && !this.#socket.destroyed) {
      const head = (this.#head ??= this.#readHead());
      if (head === null) break;
      const end = head.length + head.bodyLength;
      if (this.#octets.length < end) break;
      const body = head.bodyLength === 0 ? null : this.#octets.subarray(head.length, end);
      this.#octets = this.#octets.length === end ? null : this.#octets.subarray(end);
      this.#head = null;
      this.#answer(head, body);
    }
    this.#isReading = false;
    if (this.#mustWait) this.#useClock();
    else if (!this.#isOver && this.#socket.isPaused()) this.#socket.resume();
  }

  /** The socket's own, which ends what does not move. Most connections never need one: it takes memory. */
  #useClock(): void {
    if (this.#hasClock) return;
    this.#hasClock = true;
    const { idleSeconds, requestSeconds } = this.#options.limits;
    this.#socket.setTimeout((requestSeconds + idleSeconds) * 1000);
  }

  /** Null when it is not there yet, or not for this lane. */
  #readHead(): PlainHead | null {
    const head = readHead(this.#octets!, this.#options.limits.headerBytes);
    if (head === "more" && ++this.#pieces < MAX_HEAD_PIECES) return null;
    this.#pieces = 0;
    const isTaken = head !== null && head !== "more" && head.bodyLength <= MAX_BODY_BYTES;
    if (isTaken) return head;
    this.#handOver();
    return null;
  }

  #answer(head: PlainHead, body: Buffer | null): void {
    const { handle } = this.#options;
    const request = new PlainRequest(head, body, this.#socket);
    const response = new PlainResponse(request, this, !head.isLast);
    this.#response = response;
    // They are near enough to Node's for whoever only reads and writes them, as those of HTTP/2 are.
    handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  }

  #handOver(): void {
    const read = this.#octets;
    this.#isOver = true;
    const socket = this.#socket;
    for (const event in listeners) socket.off(event, listeners[event as keyof typeof listeners]);
    this.#octets = null;
    this.#others.delete(this);
    this.#toNode(socket, read);
  }

  /** After the last answer. What still comes is dropped: left unread, it would have the system drop the answer. */
  #end(): void {
    this.#isOver = true;
    this.#octets = null;
    this.#mostRead = this.#socket.bytesRead + MAX_WAITING_BYTES;
    this.#useClock();
    this.#socket.destroySoon();
  }

  /** As Node sees it, who has no more to say has left, and takes no answer that is not there yet. */
  ended(): void {
    if (this.#isOver) return;
    if (this.#mustWait || this.#octets === null) return this.#end();
    this.#isOver = true;
    this.#options.reject(this.#socket, { status: 400, isCutShort: this.#head !== null });
  }

  drained(): void {
    if (this.#response !== null) this.#response.emit("drain");
    else this.#next();
  }

  closed(): void {
    const response = this.#response;
    this.#isOver = true;
    this.#response = null;
    this.#octets = null;
    this.#others.delete(this);
    response?.gone();
  }
}

const CONNECTION = Symbol("connection");
type LaneSocket = Socket & { [CONNECTION]?: Connection };

/** All connections have the same: each of thousands that wait would pay for six of its own. */
const listeners = {
  data(this: LaneSocket, chunk: Buffer): void {
    this[CONNECTION]!.take(chunk);
  },
  end(this: LaneSocket): void {
    this[CONNECTION]!.ended();
  },
  drain(this: LaneSocket): void {
    this[CONNECTION]!.drained();
  },
  close(this: LaneSocket): void {
    this[CONNECTION]!.closed();
  },
  error: destroy,
  timeout: destroy,
};

function destroy(this: Socket): void {
  this.destroy();
}
