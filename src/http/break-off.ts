/** Requests that end before their time. Those of HTTP/2 share a connection, which must not end with them. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/** RFC 9113 §7. Written out: `node:http2` takes some MiB, also where nobody speaks it. */
const INTERNAL_ERROR = 0x2;
const ENHANCE_YOUR_CALM = 0xb;

/** An answer has begun that will never be whole, and its client must see that. */
export function breakOff(response: ServerResponse): void {
  // Destroyed without an error, a stream looks as if it had come to its end.
  const stream = streamOf(response);
  if (stream !== null) stream.close(INTERNAL_ERROR);
  // Behind others on its connection it has none yet, and Node would send what was written of it all the same.
  else if (response.socket === null) response.once("socket", (socket) => socket.destroy());
  else response.destroy();
}

/** Ends a request of HTTP/2 that asks for too much; false for one of HTTP/1.1. */
export function resetStream(request: IncomingMessage): boolean {
  const stream = streamOf(request);
  stream?.close(ENHANCE_YOUR_CALM);
  return stream !== null;
}

/** Whether nobody is there any more to take the answer. */
export function isGone(response: ServerResponse | Socket): boolean {
  const stream = streamOf(response);
  return stream === null ? response.destroyed : stream.closed || stream.destroyed;
}

function streamOf(message: IncomingMessage | ServerResponse | Socket): ServerHttp2Stream | null {
  return "stream" in message ? (message.stream as ServerHttp2Stream) : null;
}
