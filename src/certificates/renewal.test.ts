import assert from "node:assert/strict";
import { test } from "node:test";
import { renewalTime, retryTime } from "./renewal.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

test("a certificate of 90 days is renewed 30 to 35 days before its end", () => {
  const life = { notBefore: 0, notAfter: 90 * DAY };
  assert.equal(renewalTime(life, 0), 60 * DAY);
  assert.equal(renewalTime(life, 1), 55.5 * DAY);
});

test("the wait after a failure doubles from five minutes up to a day, and comes apart by a tenth", () => {
  const waits = [1, 2, 3, 9, 10, 1_000].map((failures) => retryTime(0, failures, null, 0) / MINUTE);
  assert.deepEqual(waits, [5, 10, 20, 1280, 1440, 1440]);
  assert.equal(retryTime(0, 1, null, 1), 5.5 * MINUTE);
});

test("what the server asks for is kept to, unless it is beyond reason", () => {
  assert.equal(retryTime(0, 1, 60 * MINUTE, 0), 60 * MINUTE);
  assert.equal(retryTime(0, 9, MINUTE, 0), 1280 * MINUTE);
  assert.equal(retryTime(0, 1, 1_000 * DAY, 0), 7 * DAY);
});
