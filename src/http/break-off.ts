/** Requests that end before their time. Those of HTTP/2 share a connection, which must not end with them. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";

/** An answer has begun that will never be whole, and its client must see that. */
export function breakOff(response: ServerResponse): void {
  // Destroyed without an error, a stream looks as if it had come to its end.
  const stream = streamOf(response);
  if (stream === null) response.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Ends a request of HTTP/2 that asks for too much; false for one of HTTP/1.1. */
export function resetStream(request: IncomingMessage): boolean {
  const stream = streamOf(request);
  stream?.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  return stream !== null;
}

/** Whether nobody is there any more to take the answer. */
export function isGone(response: ServerResponse): boolean {
  const stream = streamOf(response);
  return stream === null ? response.destroyed : stream.closed || stream.destroyed;
}

function streamOf(message: IncomingMessage | ServerResponse): ServerHttp2Stream | null {
  return "stream" in message ? (message.stream as ServerHttp2Stream) : null;
}
