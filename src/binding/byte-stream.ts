/** Byte streams from whatever gives octets. Only what the web platform has: workerd runs this file too. */
import { octetsOf } from "./convert.ts";

/**
 * A byte stream that reads as its reader does; one that goes early ends the octets. They are offered the
 * reader's own buffer, if it has one, as room to lie in.
 */
export function streamOf(octets: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = octets[Symbol.asyncIterator]();
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const request = controller.byobRequest;
      const room = octetsOf(request?.view) ?? undefined;
      for (;;) {
        const { done, value } = await chunks.next(room);
        if (done === true) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else if (value.length === 0) continue; // A pull must bring something, or the reader waits for good.
        else if (value.buffer === room?.buffer) request!.respond(value.length);
        else controller.enqueue(whole(value));
        return;
      }
    },
    async cancel(reason) {
      await chunks.return?.(reason);
    },
  });
}

/** All octets in a buffer of their own, which they are offered as room to lie in. */
export async function gather(
  octets: AsyncIterable<Uint8Array>,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const gathered = new Uint8Array(length);
  let at = 0;
  const chunks = octets[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await chunks.next(gathered.subarray(at));
    if (done === true) break;
    at += value.length;
    if (at > length) {
      await chunks.return?.();
      break;
    }
    if (value.buffer !== gathered.buffer) gathered.set(value, at - value.length);
  }
  if (at === length) return gathered;
  throw new Error(`The store has sent ${at} octets of ${length}`);
}

/** For who takes the whole buffer: octets that are a part of one are copied. */
export function whole(octets: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = octets.length === octets.buffer.byteLength;
  return isWhole ? (octets as Uint8Array<ArrayBuffer>) : new Uint8Array(octets);
}

/** What a reader reads, behind what was read before. */
export function chunksOf(
  reader: ReadableStreamDefaultReader<unknown>,
  before: Uint8Array | null = null,
): AsyncIterable<Uint8Array> {
  let first = before;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = first ?? (await readOctets(reader));
        first = null;
        return value === null ? { done: true, value: undefined } : { done: false, value };
      },
      async return(reason?: unknown) {
        // Not waited for: a source that is stuck would hold the answer back.
        reader.cancel(reason).catch(() => {});
        return { done: true, value: undefined };
      },
    }),
  };
}

/** Octets that a stream is asked for at once. By itself workerd gives no more than 4 KiB. */
const LARGE_READ_BYTES = 128 * 1024;

interface Reads {
  /** Null at the end. */
  next(): Promise<Uint8Array | null>;
  cancel(reason: unknown): Promise<void>;
}

/** Reads a stream in large pieces, if it can be told how much is wanted. */
export function largeReads(stream: ReadableStream<unknown>): Reads {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch {
    const plain = stream.getReader(); // A stream of chunks: they are what its maker made them.
    return { next: () => readOctets(plain), cancel: (reason) => plain.cancel(reason) };
  }
  return {
    async next() {
      const { done, value } = await reader.read(new Uint8Array(LARGE_READ_BYTES));
      return done ? null : value;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

/** The next chunk of a stream; null at the end. A stream that a script made may hold anything. */
export async function readOctets(
  reader: ReadableStreamDefaultReader<unknown>,
): Promise<Uint8Array | null> {
  const { done, value } = await reader.read();
  if (done) return null;
  const octets = octetsOf(value);
  if (octets !== null) return octets;
  const error = new TypeError("The ReadableStream has a chunk that is no octets.");
  reader.cancel(error).catch(() => {});
  throw error;
}
