/** An answer held in memory, and how it is sent. */
import type { ServerResponse } from "node:http";

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function sendReply(
  response: ServerResponse,
  { status, type, body, headers }: Reply,
  requestId: string,
): void {
  // The client may have gone while the answer was made.
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.byteLength(body);
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": bytes,
    "X-Request-Id": requestId,
    ...headers,
  });
  // A byte a character is plain ASCII, and Node writes that faster when told so.
  response.end(body, bytes === body.length ? "latin1" : "utf8");
}
