import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRangeHeader } from "./range-header.ts";

test("a range has a start and an end, or one of both", () => {
  assert.deepEqual(parseRangeHeader("bytes=0-0"), { offset: 0, length: 1 });
  assert.deepEqual(parseRangeHeader("bytes=5-9"), { offset: 5, length: 5 });
  assert.deepEqual(parseRangeHeader("bytes=5-"), { offset: 5 });
  assert.deepEqual(parseRangeHeader("bytes=-5"), { suffix: 5 });
  assert.deepEqual(parseRangeHeader("bytes=-0"), { suffix: 0 });
  assert.deepEqual(parseRangeHeader(`bytes=0-${"9".repeat(30)}`), {
    offset: 0,
    length: Number.MAX_SAFE_INTEGER,
  });
});

test("anything else goes unheard", () => {
  for (const header of ["", "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "lines=0-1"]) {
    assert.equal(parseRangeHeader(header), undefined, header);
  }
  assert.equal(parseRangeHeader("bytes=0-1,3-4"), undefined);
});
