import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedConnections } from "./connection-counts.ts";

test("threads count connections together, and what a dead one had is taken away", () => {
  const memory = SharedConnections.memory(3);
  const [one, other, third] = [0, 1, 2].map((thread) => new SharedConnections(memory, thread, 7));
  for (const counts of [one, one, other]) counts!.add("192.0.2.1");
  third!.add("192.0.2.2");
  assert.deepEqual([one!.open, other!.from("192.0.2.1"), one!.from("192.0.2.2")], [4, 3, 1]);
  one!.remove("192.0.2.1");
  assert.equal(third!.from("192.0.2.1"), 2);
  other!.clear();
  assert.deepEqual([third!.open, third!.from("192.0.2.1")], [2, 1]);
});

test("hardly any of many sources is taken for another", () => {
  const counts = new SharedConnections(SharedConnections.memory(1), 0, 0x1234abcd);
  const sources = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  for (const source of sources) counts.add(source);
  const wrong = sources.filter((source) => counts.from(source) !== 1);
  assert.ok(wrong.length < 100, `${wrong.length} of 10,000`);
});
