import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cursorAt, placeOf } from "./cursor.ts";
import { is } from "./store.contract.ts";

test("a cursor leads back to its place", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 1025 }), (place) => {
      assert.deepEqual(Uint8Array.from(placeOf(cursorAt(place))), place);
    }),
  );
});

test("what no list has given is no cursor", () => {
  const good = cursorAt(Uint8Array.of(1, 2, 3));
  const bad = ["x", "bad", "AAAA", "*", `${good}A`, `${good} `, good.slice(1), good.toUpperCase()];
  for (const cursor of [...bad, cursorAt(new Uint8Array(0)), cursorAt(new Uint8Array(1026))]) {
    assert.throws(() => placeOf(cursor), is("bad-cursor"), cursor);
  }
  fc.assert(fc.property(fc.string(), (text) => assert.throws(() => placeOf(text))));
});
