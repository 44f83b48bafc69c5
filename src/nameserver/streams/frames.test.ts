import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cpuMsOf } from "../../../test/support/patience.ts";
import { Frames } from "./frames.ts";

/** Gives the stream in pieces of these sizes, the rest in one, and gathers the messages. */
function cut(stream: Buffer, sizes: readonly number[]): { messages: string[]; frames: Frames } {
  const frames = new Frames();
  const messages: string[] = [];
  let at = 0;
  for (const size of [...sizes, stream.length]) {
    const end = Math.min(at + size, stream.length);
    frames.push(stream.subarray(at, end));
    at = end;
    while (frames.next()) {
      const { bytes, start, length } = frames;
      messages.push(Buffer.from(bytes.subarray(start, start + length)).toString("hex"));
    }
  }
  return { messages, frames };
}

function framed(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([message.length >> 8, message.length]), message]);
}

test("messages come out as they went in, whatever the pieces", () => {
  const message = fc.uint8Array({ maxLength: 700 });
  const sizes = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 40 });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), sizes, (sent, pieces) => {
      const { messages, frames } = cut(Buffer.concat(sent.map(framed)), pieces);
      assert.deepEqual(
        messages,
        sent.map((bytes) => Buffer.from(bytes).toString("hex")),
      );
      assert.equal(frames.isPartial, false);
    }),
  );
});

test("a message that has begun is told from none", () => {
  const stream = framed(new Uint8Array(40));
  for (const length of [1, 2, 3, 41]) {
    const { messages, frames } = cut(stream.subarray(0, length), []);
    assert.deepEqual(messages, []);
    assert.equal(frames.isPartial, true, `after ${length} octets`);
  }
});

test("the longest message in pieces of one octet costs time in proportion to its length", () => {
  const stream = framed(new Uint8Array(65_535));
  const frames = new Frames();
  let messages = 0;
  const ms = cpuMsOf(() => {
    for (let i = 0; i < 20 * stream.length; i++) {
      const at = i % stream.length;
      frames.push(stream.subarray(at, at + 1));
      if (frames.next()) messages++;
    }
  });
  assert.equal(messages, 20);
  // Quadratic copying would move 40 GB.
  assert.ok(ms < 5_000, `${ms} ms`);
});
