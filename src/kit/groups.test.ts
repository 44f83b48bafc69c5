import assert from "node:assert/strict";
import { test } from "node:test";
import { Groups } from "./groups.ts";

test("what waits is done together, in order, and each hears of its own", async () => {
  const sizes: number[] = [];
  const groups = new Groups<number, number>(async (_key, work) => {
    sizes.push(work.length);
    await new Promise(setImmediate);
    return work.map((n) => (n === 3 ? { error: new Error("three") } : { value: n * 2 }));
  });
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((n) => groups.add("k", n)));
  assert.deepEqual(sizes, [1, 3], "the first did not wait, the rest shared");
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : "failed")),
    [2, 4, "failed", 8],
  );
  assert.equal(await groups.add("k", 5), 10, "it starts again after it was idle");
});

test("a group that fails as a whole fails for each, and the next goes on", async () => {
  let broken = true;
  const groups = new Groups<number, number>(async (_key, work) => {
    if (broken) throw new Error("disk");
    return work.map((value) => ({ value }));
  });
  await assert.rejects(groups.add("k", 1), /disk/);
  broken = false;
  assert.equal(await groups.add("k", 2), 2);
});

test("keys do not wait for each other", async () => {
  const gate = Promise.withResolvers<void>();
  const groups = new Groups<string, string>(async (key, work) => {
    if (key === "slow") await gate.promise;
    return work.map((value) => ({ value }));
  });
  const slow = groups.add("slow", "a");
  assert.equal(await groups.add("fast", "b"), "b");
  gate.resolve();
  assert.equal(await slow, "a");
});
