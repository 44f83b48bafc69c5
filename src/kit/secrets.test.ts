import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { sameDigest, seal, SEAL_KEY_BYTES, sha256, unseal } from "./secrets.ts";

const key = randomBytes(SEAL_KEY_BYTES);

test("a sealed secret opens with its key and label, and never looks the same twice", () => {
  const sealed = seal(key, "a", "hush ü");
  assert.equal(unseal(key, "a", sealed), "hush ü");
  assert.notDeepEqual(seal(key, "a", "hush ü"), sealed);
  assert.equal(Buffer.from(sealed).includes("hush"), false);
});

test("another key, another label or any changed byte opens nothing", () => {
  const sealed = seal(key, "a", "hush");
  assert.equal(unseal(randomBytes(SEAL_KEY_BYTES), "a", sealed), null);
  assert.equal(unseal(key, "b", sealed), null);
  for (let i = 0; i < sealed.length; i++) {
    const changed = Uint8Array.from(sealed);
    changed[i]! ^= 1;
    assert.equal(unseal(key, "a", changed), null, `byte ${i}`);
  }
  assert.equal(unseal(key, "a", sealed.subarray(0, 20)), null);
});

test("digests are the known ones and compare by value", () => {
  const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; // FIPS 180-4.
  assert.equal(sha256("abc"), abc);
  assert.equal(sameDigest(abc, sha256("abc")), true);
  assert.equal(sameDigest(abc, sha256("abd")), false);
  assert.equal(sameDigest(abc, ""), false);
});
