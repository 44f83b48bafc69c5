import assert from "node:assert/strict";
import { test } from "node:test";
import { BufferPool } from "./buffer-pool.ts";

test("a pool hands out what was given back, and keeps no more than it may", () => {
  const pool = new BufferPool(8, 2);
  const three = [pool.take(), pool.take(), pool.take()];
  assert.deepEqual(
    three.map(({ length }) => length),
    [8, 8, 8],
  );
  assert.equal(new Set(three.map(({ buffer }) => buffer)).size, 3, "each its own memory");
  for (const buffer of three) pool.give(buffer);
  const again = [pool.take(), pool.take(), pool.take()];
  assert.deepEqual(
    again.map((buffer) => three.includes(buffer)),
    [true, true, false],
  );
});
