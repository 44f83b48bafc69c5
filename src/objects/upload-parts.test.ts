import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits } from "./limits.ts";
import { is } from "./store.contract.ts";
import { chosenParts } from "./upload-parts.ts";

const LEAST = defaultLimits.leastPartOctets;
const md5Of = (number: number) => String(number).padStart(32, "0");

function choose(
  numbers: readonly number[],
  sizes: Readonly<Record<number, number>>,
  evenParts = true,
  etagOf = md5Of,
) {
  const chosen = numbers.map((partNumber) => ({ partNumber, etag: etagOf(partNumber) }));
  const there = Object.entries(sizes).map(([number, size]) => ({
    number: Number(number),
    size,
    etag: md5Of(Number(number)),
    checksums: null,
  }));
  return chosenParts(chosen, there, { evenParts }, defaultLimits).map(({ number }) => number);
}

test("parts come in the order of their numbers, with gaps, and without those not named", () => {
  assert.deepEqual(choose([9, 2, 5], { 2: LEAST, 3: 1, 5: LEAST, 9: LEAST }), [2, 5, 9]);
  assert.deepEqual(choose([], { 1: 5 }), []);
  assert.deepEqual(choose([7], { 7: 0 }), [7]);
});

test("a part named twice is a fault before anything else", () => {
  assert.throws(() => choose([1, 1], {}), is("duplicate-part"));
});

test("a part that is not there, or with another etag, is a fault before any size", () => {
  assert.throws(() => choose([1, 2], { 1: 1 }), is("no-such-part"));
  const quoted = (number: number) => `"${md5Of(number)}"`;
  assert.throws(() => choose([1], { 1: 1 }, true, quoted), is("no-such-part"));
});

test("every part but the last, as they were named, has its least size", () => {
  assert.throws(() => choose([1, 2], { 1: LEAST - 1, 2: 1 }), is("part-too-small"));
  assert.throws(() => choose([2, 1], { 1: LEAST, 2: 1 }), is("part-too-small"));
  assert.deepEqual(choose([1, 2], { 1: LEAST, 2: 1 }), [1, 2]);
});

test("all but the last by number are equally long, and the last is not longer", () => {
  const uneven = [
    { 1: LEAST, 2: LEAST + 1, 3: 1 },
    { 1: LEAST, 2: LEAST + 1 },
    { 1: LEAST + 1, 2: LEAST, 3: LEAST },
  ];
  for (const sizes of uneven) {
    const numbers = Object.keys(sizes).map(Number);
    assert.throws(() => choose(numbers, sizes), is("uneven-parts"));
    assert.deepEqual(choose(numbers, sizes, false), numbers);
  }
});

test("a small part that comes first by number is uneven, or too small where that is no matter", () => {
  assert.throws(() => choose([2, 1], { 1: 1, 2: LEAST }), is("uneven-parts"));
  assert.throws(() => choose([2, 1], { 1: 1, 2: LEAST }, false), is("part-too-small"));
});

test("an object of more than 5 TiB is too large", () => {
  const size = defaultLimits.bodyOctets;
  const many = Object.fromEntries(Array.from({ length: 1025 }, (_, i) => [i + 1, size]));
  assert.throws(() => choose(Object.keys(many).map(Number), many), is("too-large"));
});
