import assert from "node:assert/strict";
import { test } from "node:test";
import { remember } from "./remember.ts";

test("a text is made something of once, and forgotten when there are many others", () => {
  let calls = 0;
  const length = remember((text) => [++calls, text.length]);
  assert.deepEqual(
    [length("ab"), length("ab"), length("abc")],
    [
      [1, 2],
      [1, 2],
      [2, 3],
    ],
  );
  for (let i = 0; i < 1_000; i++) length(`text ${i}`);
  const before = calls;
  length("ab");
  assert.equal(calls, before + 1);
});

test("a long text is not kept", () => {
  let calls = 0;
  const length = remember((text) => [++calls, text.length]);
  const long = "x".repeat(513);
  length(long);
  length(long);
  assert.equal(calls, 2);
});
