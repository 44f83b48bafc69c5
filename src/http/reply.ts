/** An answer held in memory, and how it is sent. */
import type { ServerResponse } from "node:http";
import { inTurn, refuse } from "./refuse.ts";

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request was not read to its end, so its connection ends with the answer. */
  readonly closes?: boolean;
}

export function sendReply(
  response: ServerResponse,
  reply: Reply,
  common: Readonly<Record<string, string>>,
): void {
  const { status, type, body, headers } = reply;
  // The client may have gone, or been refused, while the answer was made.
  if (response.destroyed || response.headersSent || response.socket?.writableEnded === true) return;
  if (reply.closes === true) {
    inTurn(response, (socket) => refuse(socket, reply, common));
    return;
  }
  const bytes = Buffer.byteLength(body);
  // A flat list is what Node turns headers into; given as one, it need not.
  const list = ["Content-Type", type, "Content-Length", String(bytes)];
  for (const name in common) list.push(name, common[name]!);
  for (const name in headers) list.push(name, headers[name]!);
  response.writeHead(status, list);
  // A byte a character is plain ASCII, and Node writes that faster when told so.
  response.end(body, bytes === body.length ? "latin1" : "utf8");
}
