/** Objects and uploads under a key of the caller's, on both engines. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { before, test } from "node:test";
import type { BlobDriver } from "./driver.ts";
import type { Bucket } from "./model.ts";
import type { StoredPart } from "./upload-model.ts";
import { ObjectStore } from "./object-store.ts";
import {
  ACCOUNT,
  blobIds,
  forgetfulDriver,
  inPieces,
  is,
  onBothEngines,
  read,
  smallLimits,
} from "./store.contract.ts";

const HOUR_MS = 3_600_000;
const encryption = { key: randomBytes(32) };
const another = { encryption: { key: randomBytes(32) } };
const keyMd5 = createHash("md5").update(encryption.key).digest("base64");
const hash = (algorithm: string, octets: Uint8Array) =>
  createHash(algorithm).update(octets).digest("hex");

onBothEngines("encrypted objects", (db) => {
  let blobs: BlobDriver;
  let store: ObjectStore;
  let bucket: Bucket;
  let clock = 1_700_000_000_000;
  const now = () => clock;

  before(async () => {
    blobs = forgetfulDriver(now);
    store = new ObjectStore({ db: db(), blobs, now, limits: smallLimits });
    bucket = await store.createBucket(ACCOUNT, "encrypted");
  });

  /** Whether the octets lie anywhere as they are. */
  async function isKeptPlain(octets: Uint8Array): Promise<boolean> {
    for await (const { id } of blobs.list()) {
      const blob = (await blobs.open(id))!;
      const kept = await read(blob.read({ offset: 0, length: blob.size }));
      if (kept.includes(octets)) return true;
    }
    return false;
  }

  // In a row, in a blob, and one that is hashed on the other thread.
  for (const size of [0, 8, 9, 600 * 1024]) {
    test(`${size} octets are kept encrypted and read back with their key only`, async () => {
      const octets = randomBytes(size);
      const checksums = [
        { algorithm: "sha256", value: hash("sha256", octets), isKept: false },
        { algorithm: "crc32c" },
      ] as const;
      const options = { encryption, checksums, size };
      const put = await store.put(bucket, "k", inPieces(octets), options);
      assert.ok(put !== null);
      assert.deepEqual(put.encryption, { keyMd5 });
      assert.deepEqual(Object.keys(put.checksums), ["crc32c"], "no MD5 of what is secret");
      assert.match(put.etag, /^[0-9a-f]{32}$/);
      assert.notEqual(put.etag, hash("md5", octets));
      assert.deepEqual(await store.head(bucket, "k"), put);
      assert.deepEqual((await store.list(bucket)).objects, [put]);
      const got = await store.get(bucket, "k", { encryption });
      assert.ok(got.kind === "found");
      assert.deepEqual(await read(got.body), octets);
      if (size > 8) assert.equal(await isKeptPlain(octets.subarray(0, 9)), false);
      await assert.rejects(store.get(bucket, "k"), is("key-required"));
      await assert.rejects(store.get(bucket, "k", another), is("bad-key-for-object"));
    });
  }

  test("a head is told with the key, or without any when none is asked for", async () => {
    const put = await store.put(bucket, "head", randomBytes(3), { encryption });
    assert.deepEqual(await store.head(bucket, "head", { encryption }), put);
    const bare = { encryption: undefined };
    await assert.rejects(store.head(bucket, "head", bare), is("key-required"));
    await assert.rejects(store.head(bucket, "head", another), is("bad-key-for-object"));
    await store.put(bucket, "plain", randomBytes(3));
    assert.ok(await store.head(bucket, "plain", bare));
    await assert.rejects(store.head(bucket, "plain", another), is("bad-key-for-object"));
  });

  test("a checksum of other octets stores nothing", async () => {
    const old = await store.head(bucket, "k");
    const checksums = [{ algorithm: "md5", value: hash("md5", randomBytes(5)) }] as const;
    const put = store.put(bucket, "k", randomBytes(50), { encryption, checksums });
    await assert.rejects(put, is("bad-digest"));
    assert.deepEqual(await store.head(bucket, "k"), old);
  });

  test("a plain put replaces an encrypted object, and the other way round", async () => {
    await store.put(bucket, "both", randomBytes(20), { encryption });
    const plain = randomBytes(20);
    await store.put(bucket, "both", plain);
    const got = await store.get(bucket, "both");
    assert.ok(got.kind === "found" && got.object.encryption === null);
    assert.deepEqual(await read(got.body), plain);
    await store.put(bucket, "both", plain, { encryption });
    await assert.rejects(store.get(bucket, "both"), is("key-required"));
  });

  test("any range of an upload's parts is read with the key that all of them need", async () => {
    const parts = [randomBytes(23), randomBytes(11), randomBytes(40), randomBytes(3)];
    const upload = await store.createUpload(bucket, "parts", { encryption });
    assert.deepEqual(upload.encryption, { keyMd5 });
    const { uploadId } = upload;
    const uploaded: StoredPart[] = [];
    for (const [i, part] of parts.entries()) {
      const put = (options: object) =>
        store.uploadPart(bucket, "parts", uploadId, i + 1, inPieces(part), options);
      await assert.rejects(put({}), is("key-required"));
      await assert.rejects(put(another), is("bad-key-for-object"));
      uploaded.push(await put({ encryption }));
      assert.notEqual(uploaded.at(-1)!.etag, hash("md5", part));
    }
    const complete = (options: object) =>
      store.completeUpload(bucket, "parts", uploadId, uploaded, { evenParts: false, ...options });
    await assert.rejects(complete(another), is("bad-key-for-object"));
    const object = await complete({});
    assert.deepEqual(object?.encryption, { keyMd5 });
    assert.deepEqual(await complete({}), object, "told again as it was");
    const whole = Buffer.concat(parts);
    for (let offset = 0; offset < whole.length; offset += 3) {
      for (const length of [1, 17, 60]) {
        const options = { encryption, range: { offset, length } };
        const got = await store.get(bucket, "parts", options);
        assert.ok(got.kind === "found");
        assert.deepEqual(await read(got.body), whole.subarray(offset, offset + length));
      }
    }
    await assert.rejects(store.get(bucket, "parts"), is("key-required"));
    const second = await store.get(bucket, "parts", { encryption, partNumber: 2 });
    assert.ok(second.kind === "found");
    assert.deepEqual(await read(second.body), parts[1]);
  });

  test("what is left before its end, or never begun, is not held", async () => {
    clock += 2 * HOUR_MS;
    await store.sweep();
    const others = await blobIds(blobs);
    await store.put(bucket, "left", randomBytes(100), { encryption });
    for (const isBegun of [true, false]) {
      const got = await store.get(bucket, "left", { encryption });
      assert.ok(got.kind === "found" && !(got.body instanceof Uint8Array));
      const octets = got.body[Symbol.asyncIterator]();
      if (isBegun) await octets.next();
      await octets.return!();
    }
    await store.delete(bucket, ["left"]);
    clock += 2 * HOUR_MS;
    await store.sweep();
    assert.deepEqual(await blobIds(blobs), others);
  });
});
