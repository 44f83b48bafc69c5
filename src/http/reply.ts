/** An answer held in memory, and how it is sent. */
import type { ServerResponse } from "node:http";
import { inTurn, refuse } from "./refuse.ts";

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request was not read to its end, so its connection ends with the answer. */
  readonly closes?: boolean;
}

/** `also` are headers of the connection or the caller, beside those of the answer itself. */
export function sendReply(
  response: ServerResponse,
  reply: Reply,
  requestId: string,
  also: Readonly<Record<string, string>> | null = null,
): void {
  const { status, type, body, headers } = reply;
  // The client may have gone, or been refused, while the answer was made.
  if (response.destroyed || response.headersSent || response.socket?.writableEnded === true) return;
  if (reply.closes === true) {
    const common = { "X-Request-Id": requestId, ...also };
    inTurn(response, (socket) => refuse(socket, reply, common));
    return;
  }
  const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  const all = { "Content-Type": type, "Content-Length": bytes, "X-Request-Id": requestId };
  if (also !== null) Object.assign(all, also);
  if (headers !== undefined) Object.assign(all, headers);
  response.writeHead(status, all);
  // A byte a character is plain ASCII, and Node writes that faster when told so.
  if (typeof body === "string") response.end(body, bytes === body.length ? "latin1" : "utf8");
  else response.end(body);
}
