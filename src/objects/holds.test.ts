import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { AllHolds, Holds } from "./holds.ts";
import { mainBackground, serveThread } from "./other-threads.ts";

test("what is being read is not collected, and what is being collected is not read", () => {
  const holds = new Holds();
  const free = (...ids: string[]) => {
    using collecting = holds.collecting(ids);
    return collecting.free;
  };
  const [one, two] = [holds.reading("a")!, holds.reading("a")!];
  assert.deepEqual(free("a"), []);
  one[Symbol.dispose]();
  assert.deepEqual(free("a", "b"), ["b"]);
  two[Symbol.dispose]();
  const collecting = holds.collecting(["a"]);
  assert.deepEqual(collecting.free, ["a"]);
  assert.equal(holds.reading("a"), null);
  assert.deepEqual(free("a"), []);
  assert.notEqual(holds.reading("b"), null);
  collecting[Symbol.dispose]();
  assert.notEqual(holds.reading("a"), null);
});

test("what is being written is known until it is done", () => {
  const holds = new Holds();
  const writing = holds.writing("a");
  assert.deepEqual(holds.writtenAmong(["a", "b"]), ["a"]);
  writing[Symbol.dispose]();
  assert.deepEqual(holds.writtenAmong(["a", "b"]), []);
});

test("what another thread reads or writes is held too, as long as that thread lives", async () => {
  const [own, theirs] = [new Holds(), new Holds()];
  const all = new AllHolds(own);
  const { port1, port2 } = new MessageChannel();
  const nothing = () => assert.fail();
  const background = {
    garbageMade: nothing,
    lifecycleChanged: nothing,
    eventsAdded: nothing,
    bucketRemoved: nothing,
  };
  using _ = all.add(serveThread(port1, background));
  using thread = mainBackground(port2, theirs);
  own.reading("a");
  own.writing("w");
  theirs.reading("b");
  theirs.writing("x");
  assert.deepEqual(await all.writtenAmong(["w", "x", "y"]), new Set(["w", "x"]));
  const collecting = await all.collecting(["a", "b", "c"]);
  assert.deepEqual(collecting.free, ["c"]);
  assert.equal(theirs.reading("c"), null, "it looks again for what is there now");
  assert.equal(own.reading("c"), null);
  collecting[Symbol.dispose]();
  await all.writtenAmong([]); // Behind the news that it is over.
  assert.notEqual(theirs.reading("c"), null);
  thread[Symbol.dispose]();
  using alone = await all.collecting(["a", "b", "c"]);
  assert.deepEqual(alone.free, ["b", "c"]);
  assert.deepEqual(await all.writtenAmong(["w", "x"]), new Set(["w"]));
});
