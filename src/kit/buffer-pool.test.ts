import assert from "node:assert/strict";
import { test } from "node:test";
import { BufferPool, giveBack } from "./buffer-pool.ts";

test("a pool hands out what was given back, and keeps no more than it may", () => {
  const pool = new BufferPool(8, 2);
  const three = [pool.take(), pool.take(), pool.take()];
  assert.deepEqual(
    three.map(({ length }) => length),
    [8, 8, 8],
  );
  assert.equal(new Set(three.map(({ buffer }) => buffer)).size, 3, "each its own memory");
  for (const buffer of three) pool.give(buffer);
  assert.equal(three[2]!.length, 0, "the memory of one too many is free at once");
  const again = [pool.take(), pool.take(), pool.take()];
  assert.deepEqual(
    again.map((buffer) => three.includes(buffer)),
    [true, true, false],
  );
});

test("memory that others have a share in is not given back", () => {
  const whole = Buffer.allocUnsafeSlow(8);
  giveBack(whole.subarray(0, 4));
  assert.equal(whole.length, 8);
  giveBack(whole);
  assert.equal(whole.length, 0);
});
