/** Octets between the core's iterables and the web's streams. */
import type { Body } from "#objects";
import { octetsOf } from "./convert.ts";

/** The chunks of a stream. What a script put there and is no octets fails like a stream that breaks. */
export function chunksOf(stream: ReadableStream<unknown>): Body {
  const reader = stream.getReader();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const { done, value } = await reader.read();
        if (done) return { done: true, value: undefined };
        const octets = octetsOf(value);
        if (octets !== null) return { done: false, value: octets };
        const error = new TypeError("The ReadableStream has a chunk that is no octets.");
        reader.cancel(error).catch(() => {});
        throw error;
      },
      async return() {
        // Not waited for: a source that is stuck would hold the answer back.
        reader.cancel().catch(() => {});
        return { done: true, value: undefined };
      },
    }),
  };
}

/** Tells whoever sends a body that it is not wanted. */
export async function leave(body: Body | Uint8Array): Promise<void> {
  if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.();
}

/** A byte stream that reads as its reader does, and ends the body when its reader leaves. */
export function streamOf(body: Body): ReadableStream<Uint8Array> {
  const octets = body[Symbol.asyncIterator]();
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      for (;;) {
        const { done, value } = await octets.next();
        if (done === true) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else if (value.length === 0) continue; // A pull must bring something, or the reader waits for good.
        else controller.enqueue(whole(value));
        return;
      }
    },
    async cancel() {
      await octets.return?.();
    },
  }) as ReadableStream<Uint8Array>;
}

/** A byte stream takes the whole buffer away, so a part of one must be a copy. */
function whole(octets: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = octets.length === octets.buffer.byteLength;
  return isWhole ? (octets as Uint8Array<ArrayBuffer>) : new Uint8Array(octets);
}
