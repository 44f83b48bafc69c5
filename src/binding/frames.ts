/**
 * A request or reply as one body: its JSON, then octets. A header says how many octets the JSON has.
 * Only what the web platform has, for workerd runs this file too.
 */

export const JSON_BYTES = "store-json-bytes";

/** More JSON than a thousand keys of full length, or a page of a list, can need. */
export const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** The JSON and what follows it, ready to be sent. */
export function joined(
  json: unknown,
  octets: Uint8Array | ReadableStream<Uint8Array> | null,
): { readonly bytes: number; readonly body: Uint8Array | ReadableStream<Uint8Array> } {
  const head = new TextEncoder().encode(JSON.stringify(json));
  if (octets === null) return { bytes: head.length, body: head };
  if (octets instanceof Uint8Array) {
    const body = new Uint8Array(head.length + octets.length);
    body.set(head);
    body.set(octets, head.length);
    return { bytes: head.length, body };
  }
  return { bytes: head.length, body: preceded(head, octets) };
}

function preceded(head: Uint8Array, rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = rest.getReader();
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Reads the JSON off a stream; what is left of the stream follows it. Throws when it ends too early. */
export async function split(
  stream: ReadableStream<Uint8Array>,
  bytes: number,
): Promise<{ readonly json: unknown; readonly rest: ReadableStream<Uint8Array> }> {
  const reader = stream.getReader();
  const head = new Uint8Array(bytes);
  let [at, left]: [number, Uint8Array] = [0, new Uint8Array(0)];
  while (at < bytes) {
    const { done, value } = await reader.read();
    if (done) throw new Error("The message of the store ends too early");
    const own = value.subarray(0, bytes - at);
    head.set(own, at);
    at += own.length;
    left = value.subarray(own.length);
  }
  const rest = new ReadableStream({
    type: "bytes",
    start: (controller) => {
      if (left.length > 0) controller.enqueue(left as Uint8Array<ArrayBuffer>);
    },
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else if (value.length === 0) continue;
        else controller.enqueue(value as Uint8Array<ArrayBuffer>);
        return;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }) as ReadableStream<Uint8Array>;
  return { json: JSON.parse(new TextDecoder().decode(head)) as unknown, rest };
}
