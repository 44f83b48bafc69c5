import assert from "node:assert/strict";
import { test } from "node:test";
import { Holds } from "./holds.ts";

test("what is being read is not collected, and what is being collected is not read", () => {
  const holds = new Holds();
  const [one, two] = [holds.reading("a")!, holds.reading("a")!];
  assert.equal(holds.collecting("a"), null);
  one[Symbol.dispose]();
  assert.equal(holds.collecting("a"), null);
  two[Symbol.dispose]();
  const collecting = holds.collecting("a")!;
  assert.equal(holds.reading("a"), null);
  assert.equal(holds.collecting("a"), null);
  assert.notEqual(holds.reading("b"), null);
  collecting[Symbol.dispose]();
  assert.notEqual(holds.reading("a"), null);
});

test("what is being written is known until it is done", () => {
  const holds = new Holds();
  const writing = holds.writing("a");
  assert.equal(holds.isWriting("a"), true);
  assert.equal(holds.isWriting("b"), false);
  writing[Symbol.dispose]();
  assert.equal(holds.isWriting("a"), false);
});
