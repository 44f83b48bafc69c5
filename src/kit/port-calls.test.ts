import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { PortCalls } from "./port-calls.ts";

type Sums = { add(a: number, b: number): number; never(): Promise<void>; fail(): void };

function open() {
  const { port1, port2 } = new MessageChannel();
  const told: number[] = [];
  const here = new PortCalls<Sums>(port1, {});
  const there = new PortCalls(port2, {
    add: (a: number, b: number) => (told.push(a + b), a + b),
    never: () => new Promise(() => {}),
    fail: () => {
      throw new Error("no sums today");
    },
  });
  return { here, there, told };
}

test("what is called is done at the other end, and its result or fault comes back", async () => {
  const { here, there, told } = open();
  using _ = here;
  assert.deepEqual(await Promise.all([here.call("add", 1, 2), here.call("add", 3, 4)]), [3, 7]);
  here.tell("add", 5, 6);
  await assert.rejects(here.call("fail"), /no sums today/);
  assert.deepEqual(told, [3, 7, 11]);
  there[Symbol.dispose]();
});

test("a call fails when the other end is no more", async () => {
  const { here, there } = open();
  const never = here.call("never");
  there[Symbol.dispose]();
  await assert.rejects(never, /has ended/);
  await assert.rejects(here.call("add", 1, 2), /has ended/);
  here.tell("add", 1, 2);
});
