import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Turnstile } from "./turnstile.ts";

/** Lets all go on that can. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("so many are let through at a time, in the order of asking", async () => {
  const turnstile = new Turnstile(2, 60_000);
  const within: string[] = [];
  const enter = async (name: string) => {
    const place = await turnstile.enter();
    within.push(name);
    return place;
  };
  const [a, b] = [enter("a"), enter("b")];
  const later = [enter("c"), enter("d")];
  await settle();
  assert.deepEqual(within, ["a", "b"]);
  const place = await a;
  place[Symbol.dispose]();
  place[Symbol.dispose](); // Twice gives one place back.
  await settle();
  assert.deepEqual(within, ["a", "b", "c"]);
  for (const one of [b, ...later]) (await one)[Symbol.dispose]();
  assert.deepEqual(within, ["a", "b", "c", "d"]);
});

test("who takes too long is passed by", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const turnstile = new Turnstile(1, 1_000);
    const slow = await turnstile.enter();
    const next = turnstile.enter();
    mock.timers.tick(1_000);
    const place = await next;
    const last = turnstile.enter().then(() => "through");
    slow[Symbol.dispose](); // Its place is not its own any more.
    await settle();
    assert.equal(await Promise.race([last, Promise.resolve("waits")]), "waits");
    place[Symbol.dispose]();
    assert.equal(await last, "through");
  } finally {
    mock.timers.reset();
  }
});
