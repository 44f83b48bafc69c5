/** Objects: put, read, deleted, on both engines. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { before, test } from "node:test";
import type { BlobDriver } from "./driver.ts";
import type { Body, Bucket, StorageClass } from "./model.ts";
import { ObjectStore } from "./object-store.ts";
import {
  ACCOUNT,
  blobIds,
  forgetfulDriver,
  inPieces,
  is,
  octets,
  onBothEngines,
  read,
  smallLimits,
  textOf,
} from "./store.contract.ts";

const md5 = (data: string | Uint8Array) => createHash("md5").update(data).digest("hex");
const LONG = "more octets than lie in a row";

onBothEngines("objects", (db) => {
  let blobs: BlobDriver;
  let store: ObjectStore;
  let bucket: Bucket;
  let clock = 1_700_000_000_000;
  const now = () => clock++;

  before(async () => {
    blobs = forgetfulDriver(Date.now);
    store = new ObjectStore({ db: db(), blobs, now, limits: smallLimits });
    bucket = await store.createBucket(ACCOUNT, "objects");
  });

  test("a body of a mebibyte is hashed and checked like a small one, and read back", async () => {
    const large = randomBytes(2 ** 20 + 1);
    const sha256 = createHash("sha256").update(large).digest("hex");
    const before = await blobIds(blobs);
    const wrong = { algorithm: "sha256", value: "00".repeat(32) } as const;
    await assert.rejects(
      store.put(bucket, "large", large, { checksums: [wrong] }),
      is("bad-digest"),
    );
    assert.deepEqual(await blobIds(blobs), before);
    const checksum = { algorithm: "sha256", value: sha256 } as const;
    const put = await store.put(bucket, "large", large, { checksums: [checksum] });
    assert.deepEqual([put?.etag, put?.checksums], [md5(large), { md5: md5(large), sha256 }]);
    const got = await store.get(bucket, "large");
    assert.ok(got.kind === "found");
    assert.deepEqual(await read(got.body), large);
  });

  for (const value of ["", "short", "8 octets", "9 octets!", LONG]) {
    test(`a value of ${value.length} octets reads back, put as octets or as a stream`, async () => {
      const puts = {
        octets: octets(value),
        stream: inPieces(value),
        pieces: inPieces(...value.split(""), ""),
        "one piece again and again": refilled(octets(value)),
      };
      for (const [key, body] of Object.entries(puts)) {
        const put = await store.put(bucket, key, body);
        assert.equal(put?.etag, md5(value));
        assert.equal(put.size, value.length);
        assert.match(put.version, /^[0-9a-f]{32}$/);
        assert.deepEqual(put.checksums, { md5: md5(value) });
        assert.deepEqual(await store.head(bucket, key), put);
        const got = await store.get(bucket, key);
        assert.equal(await textOf(got), value);
        assert.deepEqual(got.kind === "found" && got.object, put);
        assert.deepEqual(got.kind === "found" && got.range, { offset: 0, length: value.length });
      }
    });

    test(`of a value of ${value.length} octets a range has its octets`, async () => {
      await store.put(bucket, "ranges", octets(value));
      for (let offset = 0; offset < value.length; offset += 3) {
        const range = { offset, length: 5 };
        const got = await store.get(bucket, "ranges", { range });
        assert.equal(await textOf(got), value.slice(offset, offset + 5));
        const length = Math.min(5, value.length - offset);
        assert.deepEqual(got.kind === "found" && got.range, { offset, length });
      }
      const past = { range: { offset: value.length } };
      await assert.rejects(store.get(bucket, "ranges", past), is("bad-range"));
    });
  }

  test("what is not there is missing, whatever is asked of it", async () => {
    assert.equal(await store.head(bucket, "absent"), null);
    const conditions = { etagDoesNotMatch: [{ type: "wildcard" }] } as const;
    const asked = { conditions, range: { offset: 5 } };
    assert.deepEqual(await store.get(bucket, "absent", asked), { kind: "missing" });
  });

  test("keys are taken as they are", async () => {
    const keys = [
      "",
      "/",
      "//",
      "..",
      "../up",
      "a\0b",
      "\0",
      " space ",
      "\uFEFFbom",
      "é",
      "e\u0301",
    ];
    for (const [i, key] of keys.entries()) await store.put(bucket, key, octets(`value ${i}`));
    for (const [i, key] of keys.entries()) {
      assert.equal((await store.head(bucket, key))?.key, key);
      assert.equal(await textOf(await store.get(bucket, key)), `value ${i}`);
    }
    await store.delete(bucket, keys);
    for (const key of keys) assert.equal(await store.head(bucket, key), null);
  });

  test("a key that is none is refused everywhere, and the body is left", async () => {
    const bad = ["a".repeat(1025), "\uD800"];
    for (const key of bad) {
      const refused = is("bad-key");
      const body = watched(LONG);
      await assert.rejects(store.put(bucket, key, body), refused);
      assert.equal(body.state, "left");
      await assert.rejects(store.head(bucket, key), refused);
      await assert.rejects(store.get(bucket, key), refused);
      await assert.rejects(store.delete(bucket, ["fine", key]), refused);
      await assert.rejects(store.createUpload(bucket, key), refused);
      const part = watched(LONG);
      await assert.rejects(store.uploadPart(bucket, key, "x", 1, part), refused);
      assert.equal(part.state, "left");
      await assert.rejects(
        store.completeUpload(bucket, key, "x", [], { evenParts: true }),
        refused,
      );
      await assert.rejects(store.abortUpload(bucket, key, "x"), refused);
    }
  });

  test("metadata and storage class come back as they were given, and a put replaces them all", async () => {
    const http = { contentType: "text/plain", cacheExpiry: 12_345, contentLanguage: "" };
    const custom = { a: "1", ["ü\0"]: "\uD800", ["__proto__"]: "own", "": "" };
    const storageClass = "InfrequentAccess";
    const put = await store.put(bucket, "meta", octets("x"), { http, custom, storageClass });
    assert.deepEqual(put?.http, http);
    const head = await store.head(bucket, "meta");
    assert.deepEqual(head?.http, http);
    assert.deepEqual(Object.entries(head.custom), Object.entries(custom));
    assert.equal(head.storageClass, storageClass);
    const plain = await store.put(bucket, "meta", octets("x"));
    assert.deepEqual([plain?.http, plain?.custom], [{}, {}]);
    assert.equal(plain?.storageClass, "Standard");
    assert.deepEqual(await store.head(bucket, "meta"), plain);
  });

  test("metadata that is too large, or a storage class that is none, stores nothing", async () => {
    const body = watched(LONG);
    const large = { custom: { a: "x".repeat(8192) } };
    await assert.rejects(store.put(bucket, "bad", body, large), is("metadata-too-large"));
    assert.equal(body.state, "left");
    await assert.rejects(store.createUpload(bucket, "bad", large), is("metadata-too-large"));
    const wrong = { storageClass: "Other" as StorageClass };
    await assert.rejects(store.put(bucket, "bad", octets(""), wrong), is("bad-storage-class"));
    assert.equal(await store.head(bucket, "bad"), null);
  });

  for (const value of ["short", LONG]) {
    test(`a checksum of ${value.length} octets is checked and kept; a wrong one stores nothing`, async () => {
      for (const algorithm of ["md5", "sha1", "sha256", "sha384", "sha512"] as const) {
        const digest = createHash(algorithm).update(value).digest("hex");
        const checksum = { algorithm, value: digest.toUpperCase() };
        const put = await store.put(bucket, "sums", inPieces(value), { checksums: [checksum] });
        assert.deepEqual(put?.checksums, { md5: md5(value), [algorithm]: digest });
        assert.deepEqual(await store.head(bucket, "sums"), put);
        const wrong = { checksums: [{ algorithm, value: digest.replace(/./, "g") }] };
        const before = await blobIds(blobs);
        await assert.rejects(store.put(bucket, "sums", inPieces(value), wrong), is("bad-digest"));
        assert.deepEqual(await store.head(bucket, "sums"), put);
        assert.deepEqual(await blobIds(blobs), before);
      }
    });

    test(`a body of other than the ${value.length} octets announced stores nothing`, async () => {
      await store.put(bucket, "size", inPieces(value), { size: value.length });
      const old = await store.head(bucket, "size");
      const before = await blobIds(blobs);
      for (const size of [0, value.length - 1, value.length + 1]) {
        const put = store.put(bucket, "size", inPieces(...value.split("")), { size });
        await assert.rejects(put, is("incomplete-body"));
        await assert.rejects(
          store.put(bucket, "size", octets(value), { size }),
          is("incomplete-body"),
        );
      }
      assert.deepEqual(await store.head(bucket, "size"), old);
      assert.deepEqual(await blobIds(blobs), before);
    });
  }

  test("a body that fails midway keeps the old object, and its own error comes out", async () => {
    await store.put(bucket, "failing", octets("the old value"));
    const before = await blobIds(blobs);
    for (const length of [3, 30]) {
      const failure = new Error("the wire was cut");
      const body = (async function* () {
        yield octets("x".repeat(length));
        throw failure;
      })();
      await assert.rejects(store.put(bucket, "failing", body), (error) => error === failure);
    }
    assert.equal(await textOf(await store.get(bucket, "failing")), "the old value");
    assert.deepEqual(await blobIds(blobs), before);
  });

  test("a body over the limit is left where it passes it, and stores nothing", async () => {
    const limits = { ...smallLimits, bodyOctets: 20 };
    const small = new ObjectStore({ db: db(), blobs, now, limits });
    assert.equal((await small.put(bucket, "limit", octets("x".repeat(20))))?.size, 20);
    const before = await blobIds(blobs);
    const body = watched(...Array.from({ length: 100 }, () => "abcd"));
    await assert.rejects(small.put(bucket, "limit", body), is("too-large"));
    assert.equal(body.state, "left");
    assert.ok(body.taken <= 7);
    const announced = watched("abcd");
    const size = 400;
    await assert.rejects(small.put(bucket, "limit", announced, { size }), is("too-large"));
    assert.deepEqual([announced.state, announced.taken], ["left", 0]);
    const whole = small.put(bucket, "limit", octets("x".repeat(21)));
    await assert.rejects(whole, is("too-large"));
    assert.deepEqual(await blobIds(blobs), before);
  });

  test("5 GiB are not too large for one body: clients of S3 copy and send as much at once", async () => {
    const put = (size: number) => store.put(bucket, "5-gib", watched("abcd"), { size });
    await assert.rejects(put(5 * 1024 ** 3), is("incomplete-body"));
    await assert.rejects(put(5 * 1024 ** 3 + 1), is("too-large"));
  });

  test("a large body passes in slices and reads back", async () => {
    const value = randomBytes(3_000_001);
    const put = await store.put(bucket, "large", value);
    assert.equal(put?.etag, md5(value));
    const got = await store.get(bucket, "large");
    assert.ok(got.kind === "found" && value.equals(await read(got.body)));
  });

  test("a condition that fails gives the object without octets, or stores nothing", async () => {
    const put = (await store.put(bucket, "if", octets(LONG)))!;
    const other = { etagMatches: [{ type: "strong", value: "other" }] } as const;
    const range = { offset: 1000 };
    const got = await store.get(bucket, "if", { conditions: other, range });
    assert.deepEqual(got, { kind: "condition-failed", object: put });
    const before = await blobIds(blobs);
    const refused = await store.put(bucket, "if", octets("another long value"), {
      conditions: other,
    });
    assert.equal(refused, null);
    assert.deepEqual(await blobIds(blobs), before);
    const same = { etagMatches: [{ type: "strong", value: put.etag }] } as const;
    const replaced = await store.put(bucket, "if", octets("another long value"), {
      conditions: same,
    });
    assert.notEqual(replaced?.version, put.version);
    assert.deepEqual(await store.head(bucket, "if"), replaced);
  });

  test("a reader keeps the version that it opened, through an overwrite, a delete and a sweep", async () => {
    await store.put(bucket, "kept", octets("the first long value"));
    const [one, two, never] = await Promise.all([1, 2, 3].map(() => store.get(bucket, "kept")));
    await store.put(bucket, "kept", octets("the second long value"));
    const three = await store.get(bucket, "kept");
    clock += 3_600_000;
    await store.sweep();
    assert.equal(await textOf(one!), "the first long value");
    await store.delete(bucket, ["kept"]);
    clock += 3_600_000;
    await store.sweep();
    assert.equal(await textOf(two!), "the first long value");
    assert.equal(await textOf(three), "the second long value");
    if (never?.kind === "found" && !(never.body instanceof Uint8Array)) {
      await never.body[Symbol.asyncIterator]().return?.();
    }
  });

  test("deleting takes from 1 to 1000 keys, all or none; keys that are not there are no fault", async () => {
    await assert.rejects(store.delete(bucket, []), is("bad-key-count"));
    const many = Array.from({ length: 1001 }, (_, i) => `many ${i}`);
    await assert.rejects(store.delete(bucket, many), is("bad-key-count"));
    for (const key of many.slice(0, 120)) await store.put(bucket, key, octets(`value of ${key}`));
    await assert.rejects(store.delete(bucket, ["many 0", "\uD800"]), is("bad-key"));
    assert.notEqual(await store.head(bucket, "many 0"), null);
    await store.delete(bucket, [...many.slice(0, 999), "many 0"]);
    assert.deepEqual((await store.list(bucket, { prefix: "many" })).objects, []);
    await store.delete(bucket, ["many 0"]);
  });

  test("buckets do not see each other's objects", async () => {
    const other = await store.createBucket(ACCOUNT, "other");
    await store.put(bucket, "mine", octets("mine"));
    await store.put(other, "mine", octets("yours"));
    await store.delete(other, ["mine"]);
    assert.equal(await textOf(await store.get(bucket, "mine")), "mine");
    assert.equal((await store.get(other, "mine")).kind, "missing");
  });
});

/** A body that tells whether it was read to its end or left. */
function watched(
  ...pieces: string[]
): Body & { state: "waiting" | "read" | "left"; taken: number } {
  return {
    state: "waiting",
    taken: 0,
    [Symbol.asyncIterator]() {
      return {
        next: async () => {
          const piece = pieces[this.taken++];
          if (piece !== undefined) return { done: false, value: octets(piece) };
          this.state = "read";
          return { done: true, value: undefined };
        },
        return: async () => {
          this.state = "left";
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** In pieces that are good until the next is asked for. */
async function* refilled(all: Uint8Array): Body {
  const piece = new Uint8Array(1);
  for (const octet of all) yield piece.fill(octet);
  piece.fill(0);
}
