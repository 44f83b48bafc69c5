import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedTally } from "./tally.ts";

test("figures of a thread are seen by others, and go on when it is started again", () => {
  const shared = SharedTally.memory();
  const reader = new SharedTally(shared);
  assert.deepEqual([...reader.entries()], []);
  const first = new SharedTally(shared);
  first.figure("requests\0ä").value++;
  first.figure("octets").value += 2 ** 40;
  assert.deepEqual(
    [...reader.entries()],
    [
      ["requests\0ä", 1],
      ["octets", 2 ** 40],
    ],
  );
  const second = new SharedTally(shared);
  second.figure("octets").value++;
  second.figure("new").value = 3;
  assert.deepEqual(
    [...reader.entries()].map(([, value]) => value),
    [1, 2 ** 40 + 1, 3],
  );
});

test("what finds no place any more is not counted, and harms nobody", () => {
  const tally = new SharedTally(SharedTally.memory());
  for (let i = 0; i < 3_000; i++) tally.figure(`figure ${i}`).value++;
  tally.figure("x".repeat(1_000)).value++;
  const all = [...tally.entries()];
  assert.equal(all.length, 2_048);
  assert.ok(all.every(([, value]) => value === 1));
});
