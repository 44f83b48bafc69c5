import assert from "node:assert/strict";
import { test } from "node:test";
import { WireWriter } from "./wire.ts";

test("a writer keeps every octet when it grows, whichever octet makes it grow", () => {
  for (let before = 500; before < 520; before++) {
    const writer = new WireWriter();
    writer.bytes(new Uint8Array(before).fill(1));
    writer.u8(2);
    writer.u16(0x0304);
    writer.u32(0x0506_0708);
    writer.name("a.");
    assert.deepEqual(
      [...writer.finish().subarray(before)],
      [2, 3, 4, 5, 6, 7, 8, 1, 0x61, 0],
      `after ${before} octets`,
    );
  }
});
