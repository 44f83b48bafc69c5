import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BEHIND_ALL_KEYS, behind, behindPrefix, checkKey } from "./keys.ts";
import { is, octets } from "./store.contract.ts";

const text = fc.string({ unit: "binary", maxLength: 6 });

test("any well-formed text of up to 1024 octets is a key", () => {
  for (const key of ["", "/", "..", "a/../b", " a", "\0", "\uFEFF", "ü".repeat(512)]) checkKey(key);
  checkKey("a".repeat(1024));
  checkKey("\u{1F600}".repeat(256));
});

test("a key of more octets is refused, however few its characters", () => {
  for (const key of ["a".repeat(1025), "ü".repeat(513), "\u{1F600}".repeat(257)]) {
    assert.throws(() => checkKey(key), is("bad-key"));
  }
});

test("a lone surrogate is refused", () => {
  for (const key of ["\uD800", "a\uDFFF", "\uDC00\uD800"]) {
    assert.throws(() => checkKey(key), is("bad-key"));
  }
});

test("nothing lies between a key and the place behind it", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [key, other] = [octets(a), octets(b)];
      const isLater = Buffer.compare(other, key) > 0;
      assert.equal(Buffer.compare(other, behind(key)) >= 0, isLater);
      assert.ok(Buffer.compare(other, BEHIND_ALL_KEYS) < 0);
    }),
  );
});

test("the place behind a prefix lies behind all keys with it and before all later ones", () => {
  fc.assert(
    fc.property(text, text, (prefix, key) => {
      const end = behindPrefix(octets(prefix));
      assert.ok(Buffer.compare(octets(prefix + key), end) < 0);
      if (!key.startsWith(prefix) && Buffer.compare(octets(key), octets(prefix)) > 0) {
        assert.ok(Buffer.compare(octets(key), end) >= 0);
      }
    }),
  );
});
