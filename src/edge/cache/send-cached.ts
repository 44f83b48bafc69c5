/** Sends an answer of the cache to its client, no faster than that takes it. */
import type { ServerResponse } from "node:http";
import { endWith, isGone } from "#http";
import type { CachedResponse } from "./messages.ts";

/** Whether the client stayed to the end. */
export type Sent = "answered" | "left";

/** `also` are headers that stand beside those of the answer. What is in memory is sent at once. */
export function sendCached(
  response: ServerResponse,
  { status, headers, body }: CachedResponse,
  also: readonly string[],
): Sent | Promise<Sent> {
  const all = headers.concat(also);
  if (body !== null && !(body instanceof Uint8Array)) {
    return sendStream(response, status, all, body);
  }
  if (isGone(response)) return "left";
  response.writeHead(status, all);
  if (body === null) response.end();
  else endWith(response, body);
  return "answered";
}

async function sendStream(
  response: ServerResponse,
  status: number,
  headers: string[],
  body: AsyncIterable<Uint8Array>,
): Promise<Sent> {
  const octets = body[Symbol.asyncIterator]();
  const leave = () => void octets.return?.();
  response.once("close", leave);
  try {
    if (isGone(response)) leave();
    else response.writeHead(status, headers);
    for (let next = await octets.next(); next.done !== true; next = await octets.next()) {
      if (isGone(response)) break;
      if (!response.write(next.value)) await drained(response);
    }
  } catch (error) {
    if (!isGone(response)) throw error; // The answer is not whole: the caller breaks the connection.
  } finally {
    response.off("close", leave);
  }
  if (isGone(response)) {
    leave();
    return "left";
  }
  response.end();
  return "answered";
}

/** Resolves when the client has taken what was written, or has gone. */
function drained(response: ServerResponse): Promise<void> {
  if (isGone(response)) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.once("drain", go).once("close", go);
  });
}
