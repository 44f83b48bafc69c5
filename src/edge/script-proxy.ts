/** A request on its way to a script's process and the answer on its way back, streamed both ways. */
import {
  type ClientRequest,
  type IncomingMessage,
  request as sendRequest,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import type { ScriptPlace } from "#scripts";
import { responseHeaders } from "./forwarded.ts";

/** How a request ended: answered to its last octet, left by its client, or failed. */
export type Passage =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "left" }
  | { readonly kind: "failed"; readonly cause: Error; readonly answerBegan: boolean };

export interface Onward {
  readonly place: ScriptPlace;
  readonly target: string;
  /** As Node takes them: name, value, name, value. */
  readonly headers: readonly string[];
  readonly requestId: string;
}

/** Sends the request on. Writes to the response only what the script answers; the rest is the caller's. */
export function passToScript(
  request: IncomingMessage,
  response: ServerResponse,
  onward: Onward,
): Promise<Passage> {
  return new Promise((resolve) => {
    const upstream = begin(request, onward);
    const leave = () => {
      upstream.destroy();
      resolve({ kind: "left" });
    };
    response.once("close", leave);
    const settle = (passage: Passage) => {
      response.off("close", leave);
      resolve(passage);
    };
    upstream.on("response", (answer) => {
      answer.on("error", (cause) => settle({ kind: "failed", cause, answerBegan: true }));
      response.writeHead(
        answer.statusCode!,
        answer.statusMessage,
        responseHeaders(answer.rawHeaders, onward.requestId),
      );
      answer.pipe(response);
      answer.on("end", () => {
        // A script need not take all of the body that its client sends.
        if (!request.readableEnded) passOver(request, upstream);
        settle({ kind: "answered", status: answer.statusCode! });
      });
    });
    upstream.on("error", (cause) => {
      if (response.destroyed) return leave();
      if (mayGoAgain(request, upstream, cause)) {
        response.off("close", leave);
        resolve(passToScript(request, response, onward));
      } else settle({ kind: "failed", cause, answerBegan: response.headersSent });
    });
    if (hasBody(request)) request.pipe(upstream);
    else upstream.end();
  });
}

function begin(request: IncomingMessage, { place, target, headers }: Onward): ClientRequest {
  return sendRequest({
    socketPath: place.socketPath,
    agent: place.agent,
    method: request.method!,
    path: target,
    // A body in chunks stays one; its header was for the connection that it came on.
    headers: isChunked(request) ? [...headers, "Transfer-Encoding", "chunked"] : headers,
  });
}

/** A connection that waited may be closed by the other side just as a request is put on it. */
function mayGoAgain(
  request: IncomingMessage,
  { reusedSocket }: ClientRequest,
  cause: NodeJS.ErrnoException,
): boolean {
  const wasClosed = cause.code === "ECONNRESET" || cause.code === "EPIPE";
  return reusedSocket && wasClosed && !hasBody(request) && SAFE.has(request.method!);
}

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

function hasBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return (length !== undefined && length !== "0") || isChunked(request);
}

function isChunked({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined;
}

function passOver(request: IncomingMessage, upstream: ClientRequest): void {
  request.unpipe(upstream);
  upstream.destroy();
  request.resume();
}

/** A request that wants to speak another protocol on its connection: WebSocket. */
export function upgradeToScript(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  onward: Onward,
): Promise<Passage> {
  return new Promise((resolve) => {
    const upstream = begin(request, onward);
    const fail = (cause: Error) => resolve({ kind: "failed", cause, answerBegan: false });
    upstream.on("error", fail);
    socket.on("error", () => upstream.destroy());
    upstream.on("upgrade", (answer, other, first) => {
      socket.write(headOf(answer, responseHeaders(answer.rawHeaders, onward.requestId), true));
      socket.write(first);
      other.write(head);
      join(socket, other, () => resolve({ kind: "answered", status: answer.statusCode! }));
    });
    // The script would rather answer as usual.
    upstream.on("response", (answer) => {
      answer.on("error", () => socket.destroy());
      socket.write(headOf(answer, responseHeaders(answer.rawHeaders, onward.requestId), false));
      answer.pipe(socket);
      answer.on("end", () => resolve({ kind: "answered", status: answer.statusCode! }));
    });
    upstream.end();
  });
}

/** Two connections that end together. */
function join(one: Duplex, other: Duplex, onEnd: () => void): void {
  const end = () => {
    one.destroy();
    other.destroy();
    onEnd();
  };
  for (const socket of [one, other]) socket.on("error", end).on("close", end);
  one.pipe(other);
  other.pipe(one);
}

function headOf(answer: IncomingMessage, headers: readonly string[], upgrades: boolean): string {
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  if (upgrades) lines.push("Connection: Upgrade", `Upgrade: ${answer.headers.upgrade}`);
  else lines.push("Connection: close");
  return `${lines.join("\r\n")}\r\n\r\n`;
}
