/** Octets between the core's iterables and the web's streams. */
import type { Body } from "#objects";
import { byteStream, readOctets } from "./byte-stream.ts";

export function chunksOf(stream: ReadableStream<unknown>): Body {
  const reader = stream.getReader();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = await readOctets(reader);
        return value === null ? { done: true, value: undefined } : { done: false, value };
      },
      async return() {
        // Not waited for: a source that is stuck would hold the answer back.
        reader.cancel().catch(() => {});
        return { done: true, value: undefined };
      },
    }),
  };
}

/** Ends the body when its reader leaves. */
export function streamOf(body: Body): ReadableStream<Uint8Array> {
  const octets = body[Symbol.asyncIterator]();
  return byteStream(
    async () => {
      const { done, value } = await octets.next();
      return done === true ? null : value;
    },
    async () => octets.return?.(),
  );
}

/** Tells whoever sends a body that it is not wanted. */
export async function leave(body: Body | Uint8Array): Promise<void> {
  if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.();
}
