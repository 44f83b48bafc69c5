/** What is stored: from the many kinds of value to octets or a stream of them. */
import { octetsOf, wrongParameter } from "./convert.ts";
import type { RequestBody } from "./protocol.ts";

const TYPES = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";

/** `null` and `undefined` are no octets where a method takes them. */
export function toBody(
  value: unknown,
  { method, on, mayBeNull }: { method: string; on: string; mayBeNull: boolean },
): RequestBody {
  if (value === null || value === undefined) {
    if (mayBeNull) return new Uint8Array(0);
    throw wrongParameter(method, 2, TYPES, on);
  }
  if (typeof value === "string") return encodeText(value);
  if (value instanceof ReadableStream) return unread(value as ReadableStream<Uint8Array>);
  if (value instanceof Blob) return value.stream();
  const octets = octetsOf(value);
  if (octets === null) throw wrongParameter(method, 2, TYPES, on);
  return octets.slice(); // The caller may change them while they are on their way.
}

/** Lone surrogates are stored as what they are, three octets each, like in the original. */
function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return new TextEncoder().encode(text);
  const octets: number[] = [];
  const encoder = new TextEncoder();
  for (const char of text) {
    const code = char.codePointAt(0)!;
    const isLone = code >= 0xd800 && code <= 0xdfff;
    if (isLone) octets.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    else octets.push(...encoder.encode(char));
  }
  return Uint8Array.from(octets);
}

function unread(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  try {
    if (!stream.locked && new Response(stream).body !== null) return stream;
  } catch {
    // It was read from before.
  }
  throw new TypeError("The ReadableStream has been locked to a reader.");
}

/** A stream that will not be stored is told so. */
export function cancelValue(value: unknown): void {
  if (!(value instanceof ReadableStream) || value.locked) return;
  const why = "Stream cancelled because the associated put operation encountered an error.";
  value.cancel(new Error(why)).catch(() => {});
}
