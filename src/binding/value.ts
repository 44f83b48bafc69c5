/** What is stored: from the many kinds of value to octets or a stream of them. */
import { octetsOf, wrongParameter } from "./convert.ts";
import type { RequestBody } from "./protocol.ts";

const TYPES = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";

type Value = string | Uint8Array | ReadableStream<Uint8Array> | Blob;

/** Holds the second argument of a method to its type; `null` and `undefined` are no octets in a put. */
export function readValue(args: readonly unknown[], method: "put" | "uploadPart"): Value {
  const [, value] = args;
  if (typeof value === "string") return value;
  if (value instanceof ReadableStream || value instanceof Blob) return value;
  if (value === null || value === undefined) {
    if (method === "put" && args.length > 1) return "";
  }
  const octets = octetsOf(value);
  if (octets !== null) return octets;
  const on = method === "put" ? "StoreBucket" : "StoreMultipartUpload";
  throw wrongParameter(method, 2, TYPES, on);
}

export function toBody(value: Value): RequestBody {
  if (typeof value === "string") return encodeText(value);
  if (value instanceof ReadableStream) return unread(value);
  if (value instanceof Blob) return value.stream();
  return value.slice(); // The caller may change them while they are on their way.
}

/** Lone surrogates are stored as what they are, three octets each, like in the original. */
function encodeText(text: string): Uint8Array {
  const encoder = new TextEncoder();
  if (text.isWellFormed()) return encoder.encode(text);
  const octets: number[] = [];
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
    // A response takes no stream that was read from, which a stream itself does not tell.
    if (!stream.locked && new Response(stream).body !== null) return stream;
  } catch {
    // It was read from before.
  }
  throw new TypeError("The ReadableStream has been locked to a reader.");
}

/** A stream that will not be stored is told so. */
export function cancelValue(value: Value): void {
  if (!(value instanceof ReadableStream) || value.locked) return;
  const why = "Stream cancelled because the associated put operation encountered an error.";
  value.cancel(new Error(why)).catch(() => {});
}
