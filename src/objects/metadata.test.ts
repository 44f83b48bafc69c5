import assert from "node:assert/strict";
import { test } from "node:test";
import { metadataOf, storageClassOf } from "./metadata.ts";
import type { Bucket, StorageClass } from "./model.ts";
import { is } from "./store.contract.ts";

const LIMIT = 8_192;

test("metadata that is not there takes no room", () => {
  assert.equal(metadataOf({}, LIMIT), null);
  assert.equal(metadataOf({ http: {}, custom: {} }, LIMIT), null);
  assert.deepEqual(metadataOf({ custom: { a: "" } }, LIMIT), { custom: { a: "" } });
});

test("custom metadata counts keys and values, twice where a character needs more than an octet", () => {
  const fits = { a: "b".repeat(LIMIT - 1) };
  assert.deepEqual(metadataOf({ custom: fits }, LIMIT), { custom: fits });
  metadataOf({ custom: { a: "ÿ".repeat(LIMIT - 1) } }, LIMIT);
  metadataOf({ custom: { ab: "Ā".repeat(LIMIT / 2 - 1) } }, LIMIT);
  for (const value of ["b".repeat(LIMIT), "Ā".repeat(LIMIT / 2)]) {
    assert.throws(() => metadataOf({ custom: { a: value } }, LIMIT), is("metadata-too-large"));
  }
});

test("HTTP metadata does not count into it, but has a limit of its own", () => {
  const custom = { a: "b".repeat(LIMIT - 1) };
  metadataOf({ custom, http: { contentType: "text/plain", cacheExpiry: 1 } }, LIMIT);
  const http = { contentDisposition: "x".repeat(8_193) };
  assert.throws(() => metadataOf({ http }, LIMIT), is("metadata-too-large"));
});

test("the storage class is the bucket's unless another is given, and must be one", () => {
  const bucket = { storageClass: "InfrequentAccess" } as Bucket;
  assert.equal(storageClassOf({}, bucket), "InfrequentAccess");
  assert.equal(storageClassOf({ storageClass: "Standard" }, bucket), "Standard");
  const wrong = { storageClass: "standard" as StorageClass };
  assert.throws(() => storageClassOf(wrong, bucket), is("bad-storage-class"));
});
