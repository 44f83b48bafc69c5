import assert from "node:assert/strict";
import { test } from "node:test";
import { BackOff } from "./back-off.ts";

const why = new Error("fell");

test("a first fall is forgiven, further ones cost more and more, up to a bound", () => {
  let time = 1_000;
  const backOff = new BackOff(() => time);
  const waits: number[] = [];
  for (let falls = 0; falls < 10; falls++) {
    backOff.fell(100, why);
    const since = time;
    while (backOff.reason !== null) time += 50;
    waits.push(time - since);
  }
  assert.deepEqual(waits, [0, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test("who did not start waits at once, and a reset forgives", () => {
  const backOff = new BackOff(() => 1_000);
  backOff.failed(why);
  assert.equal(backOff.reason, why);
  backOff.reset();
  assert.equal(backOff.reason, null);
});

test("a fall after a long run is a first one", () => {
  const backOff = new BackOff(() => 1_000);
  for (let falls = 0; falls < 5; falls++) backOff.fell(100, why);
  backOff.reset();
  for (let falls = 0; falls < 5; falls++) backOff.fell(60_000, why);
  assert.equal(backOff.reason, null);
});
