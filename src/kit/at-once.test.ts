import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { atMost } from "./at-once.ts";

test("all are done, no more than the limit at a time", async () => {
  const done: number[] = [];
  let [now, most] = [0, 0];
  await atMost(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    most = Math.max(most, ++now);
    await setImmediate();
    now--;
    done.push(item);
  });
  assert.deepEqual(done, [1, 2, 3, 4, 5, 6, 7]);
  assert.equal(most, 3);
});

test("one that fails does not stop the others, and the first error is thrown", async () => {
  const done: number[] = [];
  const working = atMost(2, [1, 2, 3, 4], async (item) => {
    if (item % 2 === 0) throw new Error(`failed at ${item}`);
    done.push(item);
  });
  await assert.rejects(working, { message: "failed at 2" });
  assert.deepEqual(done, [1, 3]);
});

test("nothing to do is done", () => atMost(2, [], async () => assert.fail()));
