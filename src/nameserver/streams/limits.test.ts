import assert from "node:assert/strict";
import { test } from "node:test";
import { idleMsAt } from "./limits.ts";

test("quiet connections get less time as places run out", () => {
  const limits = { connections: 1_000, idleMs: 10_000, shortIdleMs: 1_000 };
  assert.equal(idleMsAt(1, limits), 10_000);
  assert.equal(idleMsAt(500, limits), 10_000);
  assert.equal(idleMsAt(750, limits), 5_500);
  assert.equal(idleMsAt(1_000, limits), 1_000);
});
