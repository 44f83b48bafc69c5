import assert from "node:assert/strict";
import { test } from "node:test";
import { httpDate, httpDateNow } from "./http-date.ts";

test("a date is written as Date writes it, whenever it is", () => {
  const years = [-200, 0, 1969, 1970, 1999, 2000, 2024, 2026, 9999, 10_000, 200_000];
  for (const year of years) {
    for (const [month, day, seconds] of [
      [0, 1, 0],
      [1, 29, 86_399],
      [11, 31, 47_107],
    ] as const) {
      const at = new Date(0).setUTCFullYear(year, month, day) + seconds * 1000 + 999;
      assert.equal(httpDate(at), new Date(at).toUTCString());
    }
  }
});

test("the time now is that of the clock", () => {
  const before = Math.floor(Date.now() / 1000) * 1000;
  const told = Date.parse(httpDateNow());
  assert(told >= before && told <= Date.now());
});
