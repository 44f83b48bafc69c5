import assert from "node:assert/strict";
import { test } from "node:test";
import { usageOf } from "./usage.ts";

test(
  "the CPU time and memory of a process are told",
  { skip: process.platform !== "linux" },
  () => {
    const before = usageOf(process.pid)!;
    const kept = Buffer.alloc(32 * 1024 * 1024, 1);
    for (const end = performance.now() + 60; performance.now() < end;);
    const after = usageOf(process.pid)!;
    assert.ok(after.cpuSeconds > before.cpuSeconds || after.cpuSeconds > 0);
    assert.ok(after.memoryMib - before.memoryMib > 20, String(kept.length));
    assert.ok(after.isRunnable);
  },
);

test("of a process that is not there nothing is told", () => {
  assert.equal(usageOf(2 ** 30), null);
});
