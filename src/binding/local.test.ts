import assert from "node:assert/strict";
import { test } from "node:test";
import { type Body, ObjectFault, type ObjectStore } from "#objects";
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

/** The class that programs use has copied what it hands to a transport. */
test("the memory of a value is free when it is stored, and left alone when it is not", async () => {
  const put = (refuse: boolean) => ({
    bucket: async () => ({}),
    async uploadPart() {
      if (refuse) throw new ObjectFault("unavailable", "The disk is full");
      return { etag: "" };
    },
  });
  for (const refuse of [false, true]) {
    const value = new Uint8Array(CHUNK_OCTETS);
    const transport = localTransport(put(refuse) as unknown as ObjectStore, "bucket");
    assert.equal((await transport.send(request, value)).ok, !refuse);
    assert.equal(value.length, refuse ? CHUNK_OCTETS : 0);
  }
});
