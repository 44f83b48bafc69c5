/** An answer, held in memory or streaming, and how it is sent. */
import type { ServerResponse } from "node:http";
import { inTurn, refuse } from "./refuse.ts";
import { leaveUnsent, sendStream, type StreamedBody } from "./send-stream.ts";

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array | StreamedBody;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request was not read to its end, so its connection ends with the answer, which is held in memory. */
  readonly closes?: boolean;
}

/**
 * `also` are headers of the connection or the caller, beside those of the answer itself. What streams is
 * sent when the promise resolves.
 */
export function sendReply(
  response: ServerResponse,
  reply: Reply,
  requestId: string,
  also: Readonly<Record<string, string>> | null = null,
): Promise<void> | void {
  const { status, type, body, headers } = reply;
  const streamed = typeof body === "string" || body instanceof Uint8Array ? null : body;
  // The client may have gone, or been refused, while the answer was made.
  if (response.destroyed || response.headersSent || response.socket?.writableEnded === true) {
    return streamed === null ? undefined : leaveUnsent(streamed);
  }
  if (reply.closes === true && streamed === null) {
    const whole = { status, type, body: body as string | Uint8Array };
    const common = { "X-Request-Id": requestId, ...also, ...headers };
    inTurn(response, (socket) => refuse(socket, whole, common));
    return;
  }
  const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  const all = { "Content-Type": type, "Content-Length": bytes, "X-Request-Id": requestId };
  if (also !== null) Object.assign(all, also);
  if (headers !== undefined) Object.assign(all, headers);
  response.writeHead(status, all);
  // A byte a character is plain ASCII, and Node writes that faster when told so.
  if (typeof body === "string") response.end(body, bytes === body.length ? "latin1" : "utf8");
  else if (body instanceof Uint8Array) response.end(body);
  else return sendStream(response, body);
}
