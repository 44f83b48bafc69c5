/** The last answer on a connection that is not to be used again. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { STATUS_CODES } from "#kit/node-http.ts";

/** How long, and for how many bytes, a client that is still sending is listened to. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 64 * 1024 ** 2;

/**
 * Answers on the bare socket, says that nothing more will come, and drops what the client still
 * sends for a while. Closed at once, the kernel would reset the connection and the client would
 * lose the answer with it. RFC 9112 §9.6.
 */
export function refuse(
  socket: Socket,
  {
    status,
    type,
    body,
  }: { readonly status: number; readonly type: string; readonly body: string | Uint8Array },
  common: Readonly<Record<string, string>>,
): void {
  passOver(socket);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const headers = {
    "Content-Type": type,
    "Content-Length": String(Buffer.byteLength(body)),
    ...common,
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head), Buffer.from(body)]));
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("end", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
}

/** Connections whose last answer is decided, though others may have to go out before it. */
const ending = new WeakSet<Socket>();

/**
 * Takes the connection from Node's parser: what still comes is read and dropped. Left to the
 * parser, each request that follows would wait for an answer it never gets, and cost time and memory.
 */
function passOver(socket: Socket): void {
  if (ending.has(socket)) return;
  ending.add(socket);
  const most = socket.bytesRead + LINGER_BYTES;
  socket.removeAllListeners("data");
  socket.on("data", () => {
    if (socket.bytesRead > most) socket.destroy();
  });
  socket.resume();
}

/** Whether what still comes on the connection is to be passed over. */
export function isEnding(socket: Socket): boolean {
  return ending.has(socket);
}

/** Ends the connection with this request, when the answers to those before it are out. */
export function inTurn(response: ServerResponse, act: (socket: Socket) => void): void {
  passOver(response.req.socket);
  if (response.socket !== null) act(response.socket);
  else response.once("socket", act);
}

/** The answer that a connection is at, which Node keeps on the socket. */
type Answering = Socket & { readonly _httpMessage?: ServerResponse | null };

/** Whether an answer is on its way there. */
export function isAnswering(socket: Socket): boolean {
  const current = (socket as Answering)._httpMessage ?? null;
  return current !== null && !current.destroyed && !current.writableFinished;
}

/**
 * Ends the connection when the answers to whole requests are out. Where the request that is being
 * answered is itself the one that broke, the place of its answer is free, unless that has begun.
 */
export function afterOthers(socket: Socket, act: () => void): void {
  passOver(socket);
  const current = (socket as Answering)._httpMessage ?? null;
  if (current === null || current.destroyed) act();
  else if (current.req.complete) current.once("close", () => afterOthers(socket, act));
  else if (current.headersSent) socket.destroy();
  else act();
}
