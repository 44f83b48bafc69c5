import assert from "node:assert/strict";
import { test } from "node:test";
import { WindowLimit } from "./window-limit.ts";

test("a key is over its quota until its window ends, and others are not", () => {
  const limit = new WindowLimit({ quota: 2, windowSeconds: 10, keys: 100 });
  assert.deepEqual(limit.count("a", 0), { exceeded: false, left: 1, resetSeconds: 10 });
  assert.deepEqual(limit.count("a", 4000), { exceeded: false, left: 0, resetSeconds: 6 });
  assert.equal(limit.peek("a", 4000).exceeded, true, "the quota is used up");
  assert.deepEqual(limit.count("a", 9999), { exceeded: true, left: 0, resetSeconds: 1 });
  assert.equal(limit.count("b", 9999).exceeded, false);
  assert.equal(limit.peek("a", 10_000).exceeded, false);
  assert.equal(limit.count("a", 10_000).left, 1);
});

test("however many keys come, the memory is that of the last ones", () => {
  const limit = new WindowLimit({ quota: 1, windowSeconds: 10, keys: 3 });
  for (const key of ["a", "b", "c", "a", "d"]) limit.count(key, 0);
  assert.equal(limit.peek("b", 0).exceeded, false, "b was unseen for longest");
  for (const key of ["a", "c", "d"]) assert.equal(limit.peek(key, 0).exceeded, true, key);
});
