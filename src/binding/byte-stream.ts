/** Byte streams from whatever gives octets. Only what the web platform has: workerd runs this file too. */
import { octetsOf } from "./convert.ts";

/** A byte stream that reads as its reader does. `next` gives null at the end, `leave` hears who goes early. */
export function byteStream(
  next: () => Promise<Uint8Array | null>,
  leave: (reason: unknown) => Promise<unknown>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      for (;;) {
        const octets = await next();
        if (octets === null) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else if (octets.length === 0) continue; // A pull must bring something, or the reader waits for good.
        else controller.enqueue(whole(octets));
        return;
      }
    },
    async cancel(reason) {
      await leave(reason);
    },
  });
}

/** The stream takes the whole buffer away, so a part of one must be a copy. */
function whole(octets: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = octets.length === octets.buffer.byteLength;
  return isWhole ? (octets as Uint8Array<ArrayBuffer>) : new Uint8Array(octets);
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
