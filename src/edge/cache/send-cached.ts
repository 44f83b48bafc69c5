/** Sends an answer of the cache to its client, no faster than that takes it. */
import type { ServerResponse } from "node:http";
import { isGone } from "#http";
import { endWith } from "../small-answer.ts";
import type { CachedResponse } from "./messages.ts";

/** `also` are headers that stand beside those of the answer. Tells whether the client stayed to the end. */
export async function sendCached(
  response: ServerResponse,
  { status, headers, body }: CachedResponse,
  also: readonly string[],
): Promise<"answered" | "left"> {
  if (body === null || body instanceof Uint8Array) {
    if (isGone(response)) return "left";
    response.writeHead(status, [...headers, ...also]);
    if (body === null) response.end();
    else endWith(response, body);
    return "answered";
  }
  const octets = body[Symbol.asyncIterator]();
  const leave = () => void octets.return?.();
  response.once("close", leave);
  try {
    if (isGone(response)) leave();
    else response.writeHead(status, [...headers, ...also]);
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
