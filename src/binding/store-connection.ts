/**
 * A connection of a script's process, with one call after another on it. Node's HTTP server takes some 7 µs more
 * for a small call, so it gets only the connections that carry something else.
 */
import type { Socket } from "node:net";
import { latinOf, sendBehind, SMALL_BODY } from "#http";
import { STATUS_CODES } from "#kit/node-http.ts";
import { readCall, type WholeCall } from "./call-reader.ts";
import type { Framed } from "./http-door.ts";
import type { Loan } from "./lent-bodies.ts";

/** What the process may send while a call of its own is answered; it should wait. */
const MAX_WAITING_BYTES = 128 * 1024;

export interface ConnectionOwner {
  /** Has an answer sent. */
  answer(call: WholeCall, send: (framed: Framed) => Promise<void> | void): Promise<void>;
  /** Takes over the connection, which carries something else, and what was read of it. */
  handOver(read: Buffer): void;
  /** Hears why an answer was broken off. */
  onError(cause: unknown): void;
}

export function serveConnection(socket: Socket, owner: ConnectionOwner): void {
  let octets: Buffer | null = null;
  let isBusy = false;

  const take = (chunk: Buffer): void => {
    octets = octets === null ? chunk : Buffer.concat([octets, chunk]);
    if (!isBusy) next();
    else if (octets.length > MAX_WAITING_BYTES) socket.destroy();
  };
  const next = (): void => {
    if (octets === null || !socket.writable) return;
    const call = readCall(octets);
    if (call === "more") return;
    if (call === null) return handOver(octets);
    octets = octets.length === call.end ? null : octets.subarray(call.end);
    isBusy = true;
    void answer(call);
  };
  const answer = async (call: WholeCall): Promise<void> => {
    try {
      await owner.answer(call, (framed) => send(socket, framed));
      isBusy = false;
      next();
    } catch (cause) {
      owner.onError(cause);
      socket.destroy();
    }
  };
  const handOver = (rest: Buffer): void => {
    socket.off("data", take).off("end", leave).off("error", leave);
    owner.handOver(rest);
  };
  const leave = () => void socket.destroy();
  socket.on("data", take).on("end", leave).on("error", leave);
}

async function send(
  socket: Socket,
  { status, headers, body, closes, loan }: Framed,
): Promise<void> {
  const isStream = typeof body !== "string" && !(body instanceof Uint8Array);
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: ${length}\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  head += closes === true ? "Connection: close\r\n\r\n" : "\r\n";
  if (body instanceof Uint8Array && length <= SMALL_BODY) {
    socket.write(head + latinOf(body), "latin1");
  } else {
    socket.cork();
    socket.write(head, "latin1");
    if (!isStream) socket.write(body);
    socket.uncork();
    if (isStream && (loan === undefined || (await isWanted(socket, loan)))) {
      await sendBehind(socket, body);
    }
  }
  if (closes === true) socket.end();
}

/** Waits until what was lent is to be sent here. Where it is not, its connection ends: a part of the answer is missing. */
async function isWanted(socket: Socket, loan: Loan): Promise<boolean> {
  const left = Promise.withResolvers<null>();
  const leave = () => left.resolve(null);
  if (socket.destroyed) leave();
  socket.once("close", leave);
  const isSent = await Promise.race([loan.isSent, left.promise]);
  socket.off("close", leave);
  if (isSent === null) loan.linger();
  else if (!isSent) socket.destroy();
  return isSent === true;
}
