/**
 * A stream of unknown length as chunks, each behind its length, with an empty one at the end. HTTP has the
 * same, but workerd ends a request's body without a fault when its stream has failed: only this end is one.
 */

const LENGTH_OCTETS = 4;

/** The last chunk. */
export const END: Uint8Array = new Uint8Array(LENGTH_OCTETS);

/** The length that stands before a chunk, which has some octets. */
export function lengthOf(chunk: Uint8Array): Uint8Array {
  const length = new Uint8Array(LENGTH_OCTETS);
  new DataView(length.buffer).setUint32(0, chunk.length);
  return length;
}

/** The octets in the chunks. Calls `cutShort` for what to throw when they have no end. */
export async function* unchunked(
  body: AsyncIterable<Uint8Array>,
  cutShort: () => Error,
): AsyncGenerator<Uint8Array> {
  const length = new DataView(new ArrayBuffer(LENGTH_OCTETS));
  let lengthRead = 0;
  let left = 0;
  let isEnded = false;
  for await (const octets of body) {
    for (let at = 0; at < octets.length;) {
      if (isEnded) throw cutShort();
      if (left > 0) {
        const part = octets.subarray(at, at + left);
        at += part.length;
        left -= part.length;
        yield part;
        continue;
      }
      length.setUint8(lengthRead++, octets[at++]!);
      if (lengthRead < LENGTH_OCTETS) continue;
      lengthRead = 0;
      left = length.getUint32(0);
      isEnded = left === 0;
    }
  }
  if (!isEnded) throw cutShort();
}
