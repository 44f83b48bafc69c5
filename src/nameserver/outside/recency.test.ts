import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Recency, type Linked } from "./recency.ts";

interface Item extends Linked<Item> {
  readonly number: number;
}

test("whatever is used and taken out, the order is that of the last use", () => {
  const step = fc.record({ number: fc.nat(9), isUse: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const recency = new Recency<Item>();
      const items = Array.from({ length: 10 }, (_, number): Item => {
        return { number, older: null, newer: null };
      });
      let expected: number[] = [];
      for (const { number, isUse } of steps) {
        expected = expected.filter((other) => other !== number);
        if (isUse) recency.touch(items[number]!);
        else recency.remove(items[number]!);
        if (isUse) expected.push(number);
        assert.deepEqual(fromOldest(recency), expected);
      }
    }),
  );
});

function fromOldest(recency: Recency<Item>): number[] {
  const numbers: number[] = [];
  for (let item = recency.oldest; item !== null; item = item.newer) numbers.push(item.number);
  return numbers;
}
