import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Deadlines, type Timed } from "./deadlines.ts";

test("whatever is set, moved and taken out, the first is the one with the least time", () => {
  const step = fc.record({ item: fc.nat(20), dueAt: fc.option(fc.nat(50)) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const deadlines = new Deadlines<Timed>();
      const items = Array.from({ length: 21 }, (): Timed => ({ dueAt: 0, place: -1 }));
      const set = new Set<Timed>();
      for (const { item, dueAt } of steps) {
        const moved = items[item]!;
        if (dueAt === null) deadlines.clear(moved);
        else deadlines.set(moved, dueAt);
        if (dueAt === null) set.delete(moved);
        else set.add(moved);
        assert.equal(deadlines.first?.dueAt, least(set));
      }
      for (; set.size > 0; set.delete(deadlines.first!), deadlines.clear(deadlines.first!)) {
        assert.equal(deadlines.first?.dueAt, least(set));
      }
      assert.equal(deadlines.first, undefined);
    }),
  );
});

function least(items: ReadonlySet<Timed>): number | undefined {
  return items.size === 0 ? undefined : Math.min(...[...items].map(({ dueAt }) => dueAt));
}
