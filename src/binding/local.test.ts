import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body, ObjectStore } from "#objects";
import { localTransport } from "./local.ts";

const CHUNKS = 3;
const CHUNK_OCTETS = 65_536;
const request = { method: "uploadPart", key: "k", uploadId: "u", partNumber: 1 } as const;

/** What is left of each chunk at the end. */
async function lengthsAfterwards(stream: ReadableStream<Uint8Array>): Promise<number[]> {
  const chunks: Uint8Array[] = [];
  const store = {
    bucket: async () => ({}),
    async uploadPart(_bucket: unknown, _key: unknown, _id: unknown, _number: unknown, body: Body) {
      for await (const chunk of body) {
        assert.equal(chunk.length, CHUNK_OCTETS);
        chunks.push(chunk);
      }
      return { etag: "" };
    },
  } as unknown as ObjectStore;
  const reply = await localTransport(store, "bucket").send(request, stream);
  assert.ok(reply.ok);
  return chunks.map(({ length }) => length);
}

function streamOf(
  isBytes: boolean,
  chunk: () => Uint8Array<ArrayBuffer>,
): ReadableStream<Uint8Array> {
  let left = CHUNKS;
  return new ReadableStream({
    ...(isBytes && { type: "bytes" }),
    pull(controller) {
      controller.enqueue(chunk());
      if (--left === 0) controller.close();
    },
  });
}

test("the memory of a byte stream's chunk is free when the next one is asked for", async () => {
  const stream = streamOf(true, () => new Uint8Array(CHUNK_OCTETS));
  assert.deepEqual(await lengthsAfterwards(stream), Array(CHUNKS).fill(0));
});

test("the chunks of another stream stay whole: whoever made them may use them again", async () => {
  const chunk = new Uint8Array(CHUNK_OCTETS);
  const stream = streamOf(false, () => chunk);
  assert.deepEqual(await lengthsAfterwards(stream), Array(CHUNKS).fill(CHUNK_OCTETS));
});
