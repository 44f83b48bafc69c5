import assert from "node:assert/strict";
import { test } from "node:test";
import { UploadBudget } from "./upload-budget.ts";

const SCRIPT_BYTES = 10 * 1024 ** 2;

test("uploads are held to what they announce, of an account and in all, until they are over", () => {
  const budget = new UploadBudget(SCRIPT_BYTES);
  const whole = String(budget.mostBytes);
  const taken = Array.from({ length: 8 }, () => budget.take("a", whole));
  assert.throws(() => budget.take("a", "1"), { status: 429, headers: { "Retry-After": "2" } });
  taken.push(...Array.from({ length: 8 }, () => budget.take("b", whole)));
  assert.throws(() => budget.take("c", "1"), { status: 503, headers: { "Retry-After": "2" } });
  taken.pop()![Symbol.dispose]();
  const last = budget.take("c", whole);
  for (const one of [...taken, last]) one[Symbol.dispose]();
  assert.doesNotThrow(() => budget.take("a", whole));
});

test("an upload that does not say how large it is takes as much as one may, and so does one that is too large", () => {
  for (const announced of [undefined, "1e300"]) {
    const budget = new UploadBudget(SCRIPT_BYTES);
    for (let i = 0; i < 8; i++) budget.take("a", announced);
    assert.throws(() => budget.take("a", announced), { status: 429 });
  }
});

test("many small ones fit", () => {
  const budget = new UploadBudget(SCRIPT_BYTES);
  for (let i = 0; i < 1_000; i++) budget.take("a", "10000");
});
