import assert from "node:assert/strict";
import { test } from "node:test";
import { closing, leave } from "./bodies.ts";
import type { Body } from "./model.ts";
import { inPieces, read } from "./store.contract.ts";

function watched(body: Body) {
  let closed = 0;
  const octets = closing(body, async () => void closed++);
  return { octets, closed: () => closed };
}

test("a body that is read to its end is closed once, and stays at its end", async () => {
  const { octets, closed } = watched(inPieces("ab", "c"));
  assert.equal((await read(octets)).toString(), "abc");
  assert.equal((await octets.next()).done, true);
  assert.equal(closed(), 1);
});

test("a body that is left, begun or not, is closed once", async () => {
  for (const begin of [true, false]) {
    const { octets, closed } = watched(inPieces("ab", "c"));
    if (begin) await octets.next();
    await leave(octets);
    await leave(octets);
    assert.equal(closed(), 1);
    assert.equal((await octets.next()).done, true);
  }
});

test("a body that fails is closed, and its error comes out", async () => {
  const failure = new Error("cut");
  const failing = (async function* () {
    yield new Uint8Array(1);
    throw failure;
  })();
  const { octets, closed } = watched(failing);
  await assert.rejects(read(octets), (error) => error === failure);
  assert.equal(closed(), 1);
});
