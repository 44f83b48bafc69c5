/**
 * A request or reply: its JSON in a header and octets as the body, which a runtime can then pass on as they come.
 * JSON that is too long for a header stands in the body before the octets, and a header says how many octets
 * it has. Another says whether the octets come in chunks (`chunks.ts`). A few octets may stand in a header, too: to
 * read a body costs workerd a tenth of a get. Only what the web platform has, for workerd runs this file too.
 */
import { chunksOf, largeReads, readOctets } from "./byte-stream.ts";
import { END, lengthOf } from "./chunks.ts";
import { hasLength } from "./own-streams.ts";
import type { RequestBody } from "./protocol.ts";

/** The JSON, in the one form; its length in the other. */
export const JSON_TEXT = "store-json";
export const JSON_BYTES = "store-json-bytes";
export const OCTETS = "store-octets";
export const IN_CHUNKS = "chunks";
/** A reply's octets in base64, where they are few and the door knows whom it answers. */
export const FEW_OCTETS = "store-few-octets";

/** More JSON than a thousand keys of full length, or a page of a list, can need. */
export const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** Longer JSON stands in the body: Node's `fetch` takes 16 KiB of headers in all. */
const MAX_HEADER_CHARACTERS = 4 * 1024;

/** The JSON as a header can hold it; null when it is too long for one. */
export function headerJson(json: string): string | null {
  if (json.length > MAX_HEADER_CHARACTERS) return null;
  const plain = json.replaceAll(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return plain.length <= MAX_HEADER_CHARACTERS ? plain : null;
}

/** How many octets the header says the JSON has; null when it says nothing that can be. */
export function jsonBytesOf(header: string | null | undefined): number | null {
  if (typeof header !== "string" || !/^\d{1,9}$/.test(header)) return null;
  const bytes = Number(header);
  return bytes <= MAX_JSON_BYTES ? bytes : null;
}

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestBody | null;
}

/** The JSON and what goes with it, ready to be sent. */
export function joined(
  json: unknown,
  octets: RequestBody | null,
  /** Hears why a stream could not be read to its end. */
  onBreak: (error: unknown) => void,
): Sent {
  const text = JSON.stringify(json);
  const header = headerJson(text);
  if (header !== null) return beside(header, octets, onBreak);
  const head = new TextEncoder().encode(text);
  const headers = { [JSON_BYTES]: String(head.length) };
  if (octets === null) return { headers, body: head };
  if (octets instanceof Uint8Array) {
    const body = new Uint8Array(head.length + octets.length);
    body.set(head);
    body.set(octets, head.length);
    return { headers, body };
  }
  const body = inChunks(head, octets, onBreak);
  return { headers: { ...headers, [OCTETS]: IN_CHUNKS }, body };
}

function beside(
  header: string,
  octets: RequestBody | null,
  onBreak: (error: unknown) => void,
): Sent {
  const headers = { [JSON_TEXT]: header };
  const goesAsItIs = octets === null || octets instanceof Uint8Array || hasLength(octets);
  if (goesAsItIs) return { headers, body: octets };
  return { headers: { ...headers, [OCTETS]: IN_CHUNKS }, body: inChunks(null, octets, onBreak) };
}

function inChunks(
  head: Uint8Array | null,
  rest: ReadableStream<Uint8Array>,
  onBreak: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const read = largeReads(rest);
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (head !== null) controller.enqueue(head);
    },
    async pull(controller) {
      try {
        let octets = await read.next();
        while (octets?.length === 0) octets = await read.next();
        controller.enqueue(octets === null ? END : lengthOf(octets));
        if (octets === null) controller.close();
        else controller.enqueue(octets);
      } catch (error) {
        onBreak(error);
        throw error;
      }
    },
    cancel: (reason) => read.cancel(reason),
  });
}

/** Reads the JSON off a stream; what is left of the stream follows it. Throws when it ends too early. */
export async function split(
  stream: ReadableStream<Uint8Array>,
  bytes: number,
): Promise<{ readonly json: unknown; readonly rest: AsyncIterable<Uint8Array> }> {
  const reader = stream.getReader();
  const head = new Uint8Array(bytes);
  let [at, left]: [number, Uint8Array] = [0, new Uint8Array(0)];
  while (at < bytes) {
    const octets = await readOctets(reader);
    if (octets === null) throw new Error("The message of the store ends too early");
    const own = octets.subarray(0, bytes - at);
    head.set(own, at);
    at += own.length;
    left = octets.subarray(own.length);
  }
  return { json: parsed(head), rest: chunksOf(reader, left) };
}

/** The same of a body that is here. */
export function cut(
  body: Uint8Array,
  bytes: number,
): { readonly json: unknown; readonly rest: Uint8Array } {
  if (body.length < bytes) throw new Error("The message of the store ends too early");
  return { json: parsed(body.subarray(0, bytes)), rest: body.subarray(bytes) };
}

function parsed(head: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(head)) as unknown;
}
