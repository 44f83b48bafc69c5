/** A request on its way to whoever answers it and the answer on its way back, streamed both ways. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { AnswerSink, Exchange, ResponseHead, Upstream } from "#http";
import { responseHeaders } from "./forwarded.ts";

/** How a request ended: answered to its last octet, left by its client, or failed. */
export type Passage =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "left" }
  | {
      readonly kind: "failed";
      readonly cause: Error;
      readonly answerBegan: boolean;
      /** There was no connection, and the request has no body that would be lost: it may be sent again. */
      readonly neverSent: boolean;
      /** Nothing is lost, and nothing can happen twice, when another is asked. */
      readonly mayGoElsewhere: boolean;
    };

export interface Onward {
  readonly upstream: Upstream;
  readonly target: string;
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  readonly requestId: string;
  /** Headers that the answer gets beside its own. */
  readonly answerHeaders?: readonly string[];
  /** How long the answer may take from the time that the request is sent; without it, for ever. */
  readonly answerMs?: number;
}

/** An answer up to here whose octets came at once leaves with its head in one write. */
const SMALL_ANSWER = 16 * 1024;

/** Sends the request on. Writes to the response only what comes back; the rest is the caller's. */
export function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  onward: Onward,
): Promise<Passage> {
  return new Promise((resolve) => new Passing(request, response, onward, resolve).begin(false));
}

class Passing implements AnswerSink {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #onward: Onward;
  readonly #resolve: (passage: Passage) => void;
  #exchange: Exchange | null = null;
  /** A head that is not sent yet, for its body may be at hand. */
  #head: ResponseHead | null = null;
  #small: Buffer | null = null;
  #status = 0;
  #isOver = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    onward: Onward,
    resolve: (passage: Passage) => void,
  ) {
    this.#request = request;
    this.#response = response;
    this.#onward = onward;
    this.#resolve = resolve;
    response.once("close", this.#left);
  }

  begin(fresh: boolean): void {
    const { upstream } = this.#onward;
    const method = this.#request.method!;
    const exchange = upstream.send(method, headOf(this.#request, this.#onward), this, fresh);
    this.#exchange = exchange;
    if (!hasBody(this.#request)) this.#sent(exchange);
    else if (!fresh)
      sendBody(
        this.#request,
        () => this.#exchange,
        (whole) => this.#sent(whole),
      );
  }

  #sent(exchange: Exchange): void {
    exchange.finish();
    const { answerMs } = this.#onward;
    if (answerMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#exchange?.abort();
      this.fail(new Error(`No answer within ${answerMs} ms`), true);
    }, answerMs);
  }

  head(head: ResponseHead): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#status = head.status;
    this.#head = head;
    queueMicrotask(() => this.#flush()); // Unless its body came along.
  }

  data(octets: Buffer): void {
    const isAll = this.#head?.length === octets.length && octets.length <= SMALL_ANSWER;
    if (isAll) {
      this.#small = octets;
      return;
    }
    this.#flush();
    if (this.#response.write(octets)) return;
    this.#exchange?.pause();
    this.#response.once("drain", () => this.#exchange?.resume());
  }

  end(): void {
    const response = this.#response;
    if (this.#head !== null) this.#writeHead(this.#head);
    if (this.#small === null) response.end();
    else response.end(this.#small.toString("latin1"), "latin1");
    this.#small = null;
    this.#settle({ kind: "answered", status: this.#status });
  }

  fail(cause: Error, answered: boolean): void {
    const { method } = this.#request;
    // A connection that waited may be closed by the other side just as a request is put on it.
    const mayGoAgain =
      this.#exchange?.isReused === true &&
      !answered &&
      !hasBody(this.#request) &&
      SAFE.has(method!);
    if (mayGoAgain && !this.#isOver) this.begin(true);
    else this.#settle(failure(this.#request, cause, this.#response.headersSent));
  }

  drained(): void {
    this.#request.resume();
  }

  readonly #left = (): void => {
    this.#exchange?.abort();
    this.#settle({ kind: "left" });
  };

  #flush(): void {
    if (this.#head === null || this.#small !== null || this.#isOver) return;
    this.#writeHead(this.#head);
    this.#response.flushHeaders();
  }

  #writeHead({ status, reason, headers }: ResponseHead): void {
    this.#head = null;
    const { requestId, answerHeaders } = this.#onward;
    const passed = responseHeaders(headers, requestId, answerHeaders);
    // HTTP/2 has no words beside a status.
    if (this.#request.httpVersionMajor === 2) this.#response.writeHead(status, passed);
    else this.#response.writeHead(status, reason, passed);
  }

  #settle(passage: Passage): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#response.off("close", this.#left);
    this.#exchange = null;
    this.#request.resume(); // What is left of a body that nobody took is passed over.
    this.#resolve(passage);
  }
}

function failure(request: IncomingMessage, cause: Error, answerBegan: boolean): Passage {
  const { code = "" } = cause as NodeJS.ErrnoException;
  const canRepeat = !hasBody(request) && SAFE.has(request.method!);
  return {
    kind: "failed",
    cause,
    answerBegan,
    mayGoElsewhere: !answerBegan && canRepeat && !/^No answer within/.test(cause.message),
    neverSent: NO_CONNECTION.has(code) && !hasBody(request),
  };
}

const NO_CONNECTION: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOENT"]);
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

function headOf(request: IncomingMessage, { target, headers }: Onward): string {
  let head = `${request.method} ${target} HTTP/1.1\r\n`;
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
  // A body in chunks stays one; its header was for the connection that it came on.
  return isChunked(request) ? `${head}Transfer-Encoding: chunked\r\n\r\n` : `${head}\r\n`;
}

/** No faster than the other side takes it. What it does not want to have is passed over. */
function sendBody(
  request: IncomingMessage,
  current: () => Exchange | null,
  onSent: (exchange: Exchange) => void,
): void {
  const inChunks = isChunked(request);
  request.on("data", (octets: Buffer) => {
    const exchange = current();
    if (exchange === null) return;
    const goesOn = inChunks ? exchange.writeChunk(octets) : exchange.write(octets);
    if (!goesOn) request.pause();
  });
  request.on("end", () => {
    const exchange = current();
    if (exchange === null) return;
    if (inChunks) exchange.write("0\r\n\r\n");
    onSent(exchange);
  });
}

function hasBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return (length !== undefined && length !== "0") || isChunked(request);
}

/** A body whose length nobody has said. */
function isChunked(request: IncomingMessage): boolean {
  const { headers } = request;
  if (request.httpVersionMajor < 2) return headers["transfer-encoding"] !== undefined;
  const { stream } = request as unknown as {
    readonly stream: { readonly endAfterHeaders: boolean };
  };
  return !stream.endAfterHeaders && headers["content-length"] === undefined;
}

/** A request that wants to speak another protocol on its connection: WebSocket. */
export function upgradeOn(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  onward: Onward,
): Promise<Passage> {
  return new Promise((resolve) => {
    let status = 0;
    const exchange = onward.upstream.send(
      request.method!,
      headOf(request, onward),
      {
        head: (answer) => {
          status = answer.status;
          socket.write(rawHead(answer, onward.requestId), "latin1");
        },
        // The other side would rather answer as usual.
        data: (octets) => void socket.write(octets),
        end: () => {
          socket.end();
          resolve({ kind: "answered", status });
        },
        fail: (cause, answered) => {
          if (answered) socket.destroy();
          resolve(failure(request, cause, answered));
        },
        switched: (other, first) => {
          socket.write(first);
          other.write(head);
          join(socket, other, () => resolve({ kind: "answered", status }));
        },
      },
      true,
    );
    exchange.finish();
    socket.once("close", () => {
      if (status !== 101) exchange.abort();
      resolve({ kind: "left" });
    });
  });
}

/** Two connections that end together. */
function join(one: Duplex, other: Socket, onEnd: () => void): void {
  const end = () => {
    one.destroy();
    other.destroy();
    onEnd();
  };
  for (const socket of [one, other]) socket.on("error", end).on("close", end);
  one.pipe(other);
  other.pipe(one);
}

function rawHead({ status, reason, headers }: ResponseHead, requestId: string): string {
  const passed = responseHeaders(headers, requestId);
  const lines = [`HTTP/1.1 ${status} ${reason}`];
  for (let i = 0; i < passed.length; i += 2) lines.push(`${passed[i]}: ${passed[i + 1]}`);
  if (status === 101) lines.push("Connection: Upgrade", `Upgrade: ${valueOf(headers, "upgrade")}`);
  else lines.push("Connection: close");
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function valueOf(headers: readonly string[], name: string): string {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() === name) return headers[i + 1]!;
  }
  return "";
}
