/** The answer to a plain request, in the form in which handlers know those of Node, written on the bare connection. */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { httpDateNow } from "#kit/http-date.ts";
import { STATUS_CODES } from "#kit/node-http.ts";
import { asOwn } from "../loop/as-own.ts";
import { latinOf, SMALL_BODY } from "../small-body.ts";
import type { PlainRequest } from "./request.ts";
import { type FieldsGiven, ResponseHead } from "./response-head.ts";

type Done = (error?: Error | null) => void;

/** The connection that the answer goes out on. */
export interface AnswerOwner {
  /** What tells the client how long the connection waits for another request; null when it takes no more. */
  readonly keepAliveFields: string | null;
  /** The answer is written to its end. */
  answered(isLast: boolean): void;
}

const NO_FIELDS: FieldsGiven = [];

/** Emits `drain` as a stream does, and `close` when it is over, or its client has gone. */
export class PlainResponse extends EventEmitter {
  readonly req: PlainRequest;
  readonly socket: Socket;
  shouldKeepAlive: boolean;
  statusCode = 200;
  headersSent = false;
  chunkedEncoding = false;
  writableEnded = false;
  destroyed = false;
  readonly #owner: AnswerOwner;
  /** Until it is sent, which it is with the first of the body. */
  #head: ResponseHead | null = null;
  #hasBody = true;
  /** Octets that were announced and are still to come; null for as many as there are. */
  #left: number | null = null;
  #trailers = "";

  constructor(req: PlainRequest, owner: AnswerOwner, shouldKeepAlive: boolean) {
    super();
    this.req = req;
    this.socket = req.socket;
    this.#owner = owner;
    this.shouldKeepAlive = shouldKeepAlive;
  }

  writeHead(status: number, reason: string, fields?: FieldsGiven): this;
  writeHead(status: number, fields?: FieldsGiven): this;
  writeHead(status: number, second: string | FieldsGiven = NO_FIELDS, third = NO_FIELDS): this {
    if (this.headersSent) throw new Error("The head of the answer is written already");
    const isTold = typeof second === "string";
    const reason = isTold ? second : (STATUS_CODES[status] ?? "unknown");
    const head = new ResponseHead(status, reason, isTold ? third : second);
    this.headersSent = true;
    this.statusCode = status;
    this.#head = head;
    this.#hasBody = this.req.method !== "HEAD" && status !== 204 && status !== 304;
    if (head.hasConnection) this.shouldKeepAlive &&= !head.isLast;
    return this;
  }

  /** News before the answer. RFC 9110 §15.2. */
  writeInformation(status: number, fields: FieldsGiven): void {
    const { text } = new ResponseHead(status, STATUS_CODES[status] ?? "unknown", fields);
    this.socket.write(`${text}\r\n`, "latin1");
  }

  addTrailers(fields: FieldsGiven): void {
    const { text } = new ResponseHead(0, "", fields);
    this.#trailers = text.slice(text.indexOf("\n") + 1);
  }

  flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#head !== null) this.socket.write(this.#takeHead(null), "latin1");
  }

  /** False says to wait for `drain`. */
  write(given: string | Uint8Array, encoding?: BufferEncoding | Done, done?: Done): boolean {
    const told = typeof encoding === "function" ? encoding : done;
    if (!this.headersSent) this.writeHead(this.statusCode);
    const octets = octetsOf(given, typeof encoding === "string" ? encoding : "utf8");
    const { socket } = this;
    if (this.writableEnded || !this.#hasBody || octets.length === 0) {
      if (told !== undefined) queueMicrotask(told);
      return !socket.writableNeedDrain;
    }
    socket.cork();
    this.flushHeaders();
    this.#writeOctets(octets, told);
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  end(given?: string | Uint8Array, encoding: BufferEncoding = "utf8"): this {
    if (this.writableEnded || this.destroyed) return this;
    if (!this.headersSent) this.writeHead(this.statusCode);
    const octets = this.#hasBody && given !== undefined ? octetsOf(given, encoding) : "";
    const isWhole = this.#head !== null && this.#trailers === "";
    if (isWhole && octets.length <= SMALL_BODY) this.#endSmall(octets);
    else this.#endLarge(octets, isWhole ? octets.length : null);
    this.writableEnded = true;
    // Who was told of another length would take the next answer for a part of this one.
    if (this.#left !== null && this.#left !== 0) this.socket.destroy();
    if (this.listenerCount("close") > 0) process.nextTick(() => this.emit("close"));
    this.#owner.answered(!this.shouldKeepAlive);
    return this;
  }

  /** So many octets of the body went to the connection behind the head, by another way. */
  notePast(octets: number): void {
    if (this.#left !== null) this.#left -= octets;
  }

  destroy(): this {
    this.socket.destroy();
    return this;
  }

  /** The connection is closed. */
  gone(): void {
    this.destroyed = true;
    this.emit("close");
  }

  /** Head and body in one write. */
  #endSmall(octets: Uint8Array | string): void {
    const head = this.#takeHead(octets.length);
    if (this.#left !== null) this.#left -= octets.length;
    const isInChunks = this.chunkedEncoding && this.#hasBody;
    const own = asOwn(this.socket);
    if (own !== null && typeof octets !== "string" && !isInChunks) {
      own.writeBoth(head, octets);
      return;
    }
    const body = typeof octets === "string" ? octets : latinOf(octets);
    this.socket.write(head + (isInChunks ? inChunks(body) : body), "latin1");
  }

  /** `length` is that of the whole body, where it is known. */
  #endLarge(octets: Uint8Array | string, length: number | null): void {
    const { socket } = this;
    socket.cork();
    if (this.#head !== null) socket.write(this.#takeHead(length), "latin1");
    if (octets.length > 0) this.#writeOctets(octets);
    if (this.chunkedEncoding) socket.write(`0\r\n${this.#trailers}\r\n`, "latin1");
    socket.uncork();
  }

  #writeOctets(octets: Uint8Array | string, done?: Done): void {
    const { socket } = this;
    if (this.#left !== null) this.#left -= octets.length;
    if (!this.chunkedEncoding) {
      socket.write(octets, "latin1", done);
      return;
    }
    socket.write(`${octets.length.toString(16)}\r\n`, "latin1");
    socket.write(octets, "latin1");
    socket.write("\r\n", "latin1", done);
  }

  /** With what the connection has to say. `length` is that of the whole body, where it is known. */
  #takeHead(length: number | null): string {
    const head = this.#head!;
    this.#head = null;
    let { text } = head;
    if (!head.hasDate) text += `Date: ${httpDateNow()}\r\n`;
    if (!head.hasConnection) {
      const fields = this.shouldKeepAlive ? this.#owner.keepAliveFields : null;
      this.shouldKeepAlive = fields !== null;
      text += fields ?? "Connection: close\r\n";
    }
    if (!this.#hasBody) return `${text}\r\n`;
    if (head.length === null && !head.isChunked) {
      if (length !== null) return `${text}Content-Length: ${length}\r\n\r\n`;
      text += "Transfer-Encoding: chunked\r\n";
      this.chunkedEncoding = true;
    } else if (head.isChunked) this.chunkedEncoding = true;
    else this.#left = head.length;
    return `${text}\r\n`;
  }
}

/** Text is left as it is where each of its characters is an octet. */
function octetsOf(given: string | Uint8Array, encoding: BufferEncoding): Uint8Array | string {
  if (typeof given !== "string" || encoding === "latin1") return given;
  const isAscii = encoding === "utf8" && Buffer.byteLength(given) === given.length;
  return isAscii ? given : Buffer.from(given, encoding);
}

/** RFC 9112 §7.1. */
function inChunks(body: string): string {
  return body === "" ? "0\r\n\r\n" : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
}
