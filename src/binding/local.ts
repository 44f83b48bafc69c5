/** The transport within one process: requests go to the core by a call. */
import { giveBack } from "#kit/buffer-pool.ts";
import type { ObjectStore } from "#objects";
import { chunksOf } from "./byte-stream.ts";
import type { StoreTransport } from "./protocol.ts";
import { serve } from "./service.ts";

const NOTHING = new Uint8Array(0);

/** Of fewer octets the memory is left to the collector: to give it back by hand takes longer. */
const LEAST_GIVEN_BACK = 1024;

export function localTransport(store: ObjectStore, bucketName: string): StoreTransport {
  return {
    async send(request, given) {
      const octets = given instanceof ReadableStream ? chunksIn(given) : (given ?? NOTHING);
      const reply = await serve(store, () => store.bucket(bucketName), request, octets);
      if (reply.ok && given instanceof Uint8Array) giveLarge(given); // It is a copy, and all of it is kept.
      // What is at hand in the store is for all to read; a program may do with its own as it likes.
      const isShared = reply.ok && reply.body instanceof Uint8Array;
      return isShared ? { ...reply, body: new Uint8Array(reply.body) } : reply;
    },
  };
}

function chunksIn(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const isBytes = isByteStream(stream);
  const chunks = chunksOf(stream.getReader());
  return isBytes ? givenBack(chunks) : chunks;
}

/** Only such a stream can be read into a buffer of the reader's. */
function isByteStream(stream: ReadableStream): boolean {
  try {
    stream.getReader({ mode: "byob" }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/**
 * A byte stream takes the memory of what is put into it from its maker, so that a chunk is the reader's alone. Each is
 * given back when the next is asked for: the collector leaves tens of MiB of them lying.
 */
function givenBack(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = chunks[Symbol.asyncIterator]();
      let last: Uint8Array | null = null;
      return {
        ...iterator,
        async next() {
          if (last !== null) giveLarge(last);
          const step = await iterator.next();
          last = step.done === true ? null : step.value;
          return step;
        },
      };
    },
  };
}

function giveLarge(octets: Uint8Array): void {
  if (octets.length >= LEAST_GIVEN_BACK) giveBack(octets);
}
