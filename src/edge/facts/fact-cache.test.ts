import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Generations } from "#kit/generations.ts";
import { FactCache } from "./fact-cache.ts";
import type { Fact } from "./facts.ts";

/** A cache that asks the test, which answers when it likes. */
function open() {
  const generations = new Generations();
  const asked: {
    key: string;
    answer: (fact: Fact<string>) => void;
    refuse: (error: Error) => void;
  }[] = [];
  const world = { now: 0 };
  const cache = new FactCache<string>({
    // As a thread has them.
    generations: new Generations(generations.shared),
    now: () => world.now,
    ask: (key) => new Promise((answer, refuse) => asked.push({ key, answer, refuse })),
  });
  return { generations, asked, world, cache };
}

suite("what a thread has been told", () => {
  test("is kept until what it depends on has changed, and nothing else", async () => {
    const { cache, asked, generations } = open();
    const first = cache.get("a");
    asked[0]!.answer({ value: "1", depends: generations.of("zone", "other") });
    assert.equal(await first, "1");
    generations.moved("unrelated");
    assert.equal(cache.get("a"), "1");
    generations.moved("zone");
    const second = cache.get("a");
    asked[1]!.answer({ value: "2", depends: generations.of("zone") });
    assert.equal(await second, "2");
    generations.allMoved();
    assert.ok(cache.get("a") instanceof Promise);
  });

  test("is asked for once by all who come meanwhile, and again by those who came after a change", async () => {
    const { cache, asked, generations } = open();
    const depends = generations.of("zone");
    const before = [cache.get("a"), cache.get("a")];
    assert.equal(asked.length, 1);
    generations.moved("zone");
    const after = [cache.get("a"), cache.get("a")];
    asked[0]!.answer({ value: "old", depends });
    assert.equal(await before[0], "old");
    await new Promise(setImmediate);
    assert.equal(asked.length, 2, "once for all of them");
    asked[1]!.answer({ value: "new", depends: generations.of("zone") });
    assert.deepEqual([await after[0], await after[1]], ["new", "new"]);
    assert.equal(cache.get("a"), "new");
  });

  test("is asked for again by those who came while it was refused to others: that may be over", async () => {
    const { cache, asked, generations } = open();
    const before = cache.get("a");
    const after = [cache.get("a"), cache.get("a")];
    asked[0]!.refuse(new Error("The script does not start"));
    await assert.rejects(Promise.resolve(before), /does not start/);
    await new Promise(setImmediate);
    assert.equal(asked.length, 2, "once for all of them");
    asked[1]!.answer({ value: "new", depends: generations.of("zone") });
    assert.deepEqual([await after[0], await after[1]], ["new", "new"]);
  });

  test("is not kept when it is for one use, and not beyond its time", async () => {
    const { cache, asked, world, generations } = open();
    const once = cache.get("a");
    asked[0]!.answer({ value: "1", depends: null });
    assert.equal(await once, "1");
    const timed = cache.get("a");
    asked[1]!.answer({ value: "2", depends: generations.of("zone"), until: 10 });
    assert.equal(await timed, "2");
    assert.equal(cache.get("a"), "2");
    world.now = 10;
    assert.ok(cache.get("a") instanceof Promise);
  });
});
