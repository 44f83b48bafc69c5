import assert from "node:assert/strict";
import { test } from "node:test";
import { backOffMs, isGivenUp } from "./back-off.ts";

test("what fails waits twice as long each time, up to an hour, and never less than half of that", () => {
  const longest = [1, 2, 3, 12, 13, 1_000].map((failures) => backOffMs(failures, 0));
  assert.deepEqual(longest, [1_000, 2_000, 4_000, 2_048_000, 3_600_000, 3_600_000]);
  assert.equal(backOffMs(3, 1), 2_000);
});

test("an event is given up after a day, if it was tried", () => {
  const DAY_MS = 86_400_000;
  assert.ok(!isGivenUp(100, DAY_MS));
  assert.ok(!isGivenUp(2, 30 * DAY_MS));
  assert.ok(isGivenUp(3, DAY_MS + 1));
});
