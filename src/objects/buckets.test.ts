import assert from "node:assert/strict";
import { test } from "node:test";
import type { StorageClass } from "./model.ts";
import { ObjectStore } from "./object-store.ts";
import {
  ACCOUNT,
  blobIds,
  forgetfulDriver,
  is,
  octets,
  onBothEngines,
  OTHER_ACCOUNT,
  smallLimits,
} from "./store.contract.ts";

onBothEngines("buckets", (db) => {
  const blobs = forgetfulDriver(Date.now);
  let clock = 1_700_000_000_000;
  const open = (limits = smallLimits) =>
    new ObjectStore({ db: db(), blobs, now: () => clock++, limits });

  test("a bucket is found by the name it was made with", async () => {
    const store = open();
    const made = await store.createBucket(ACCOUNT, "found");
    assert.deepEqual(await store.bucket("found"), made);
    assert.equal(made.storageClass, "Standard");
    assert.equal(made.accountId, ACCOUNT);
    await assert.rejects(store.bucket("lost"), is("no-such-bucket"));
    await assert.rejects(store.bucket("no\0name"), is("no-such-bucket"));
  });

  test("a name has 3 to 63 of lower-case letters, digits and hyphens, none of these at its ends", async () => {
    const store = open();
    const bad = ["", "ab", "-ab", "ab-", "aBc", "a_b", "a.b", "a".repeat(64), "ab\n", "a/b", "äbc"];
    for (const name of bad) {
      await assert.rejects(store.createBucket(ACCOUNT, name), is("bad-bucket-name"), name);
    }
    for (const name of ["abc", "0-9", "x".repeat(63)]) await store.createBucket(ACCOUNT, name);
  });

  test("a name is given once in the whole installation, also to those who ask together", async () => {
    const store = open();
    await store.createBucket(ACCOUNT, "taken");
    await assert.rejects(store.createBucket(OTHER_ACCOUNT, "taken"), is("bucket-exists"));
    const together = await Promise.allSettled(
      Array.from({ length: 5 }, () => store.createBucket(ACCOUNT, "together")),
    );
    assert.equal(together.filter(({ status }) => status === "fulfilled").length, 1);
  });

  test("buckets made together have numbers of their own, and none is given again", async () => {
    const store = open();
    const names = Array.from({ length: 8 }, (_, i) => `number-${i}`);
    const made = await Promise.all(names.map((name) => store.createBucket(ACCOUNT, name)));
    assert.equal(new Set(made.map(({ number }) => number)).size, names.length);
    const last = made.reduce((a, b) => (a.number > b.number ? a : b));
    await store.deleteBucket(last.name);
    const again = await store.createBucket(ACCOUNT, last.name);
    assert.ok(again.number > last.number);
  });

  test("a list has the buckets of the accounts asked for, by name", async () => {
    const store = open();
    await store.createBucket(OTHER_ACCOUNT, "zzz");
    await store.createBucket(OTHER_ACCOUNT, "000");
    const of = async (...ids: string[]) => (await store.buckets(ids)).map(({ name }) => name);
    assert.deepEqual(await of(OTHER_ACCOUNT), ["000", "zzz"]);
    const both = await of(ACCOUNT, OTHER_ACCOUNT);
    assert.deepEqual(both, both.toSorted());
    assert.ok(both.length > 2);
    assert.deepEqual(await of(), []);
  });

  test("an account has a limited number of buckets", async () => {
    const have = (await open().buckets([ACCOUNT])).length;
    const store = open({ ...smallLimits, bucketsPerAccount: have + 1 });
    await store.createBucket(ACCOUNT, "last-one");
    await assert.rejects(store.createBucket(ACCOUNT, "one-more"), is("too-many-buckets"));
  });

  test("the storage class can be chosen and changed, and counts for objects that name none", async () => {
    const store = open();
    const first = await store.createBucket(ACCOUNT, "classy", { storageClass: "InfrequentAccess" });
    assert.equal((await store.put(first, "a", octets("a")))?.storageClass, "InfrequentAccess");
    const then = await store.editBucket("classy", { storageClass: "Standard" });
    assert.deepEqual(then, { ...first, storageClass: "Standard" });
    assert.deepEqual(await store.bucket("classy"), then);
    assert.equal((await store.put(then, "b", octets("b")))?.storageClass, "Standard");
    assert.equal((await store.head(then, "a"))?.storageClass, "InfrequentAccess");
    const wrong = { storageClass: "Glacier" as StorageClass };
    await assert.rejects(store.editBucket("classy", wrong), is("bad-storage-class"));
    await assert.rejects(store.createBucket(ACCOUNT, "wrong", wrong), is("bad-storage-class"));
    const right = { storageClass: "Standard" } as const;
    await assert.rejects(store.editBucket("absent", right), is("no-such-bucket"));
  });

  test("what was seen of a bucket is not shown again when it has changed or gone", async () => {
    const store = open();
    await assert.rejects(store.bucket("seen"), is("no-such-bucket"));
    const first = await store.createBucket(ACCOUNT, "seen");
    assert.deepEqual(await store.bucket("seen"), first);
    const ask = () => store.bucket("seen").catch(() => null);
    const [then] = await Promise.all([
      store.editBucket("seen", { storageClass: "InfrequentAccess" }),
      ...Array.from({ length: 10 }, ask),
    ]);
    assert.deepEqual(await store.bucket("seen"), then);
    await Promise.all([store.deleteBucket("seen"), ...Array.from({ length: 10 }, ask)]);
    assert.equal(await ask(), null);
    const again = await store.createBucket(ACCOUNT, "seen");
    assert.deepEqual(await store.bucket("seen"), again);
    assert.notEqual(again.number, first.number);
  });

  test("only an empty bucket is deleted; its uploads end with it", async () => {
    const store = open();
    const bucket = await store.createBucket(ACCOUNT, "removed");
    await store.put(bucket, "key", octets("a long enough value"));
    const { uploadId } = await store.createUpload(bucket, "upload");
    await store.uploadPart(bucket, "upload", uploadId, 1, octets("a long enough part"));
    await assert.rejects(store.deleteBucket("removed"), is("bucket-not-empty"));
    await store.delete(bucket, ["key"]);
    await store.deleteBucket("removed");
    await assert.rejects(store.deleteBucket("removed"), is("no-such-bucket"));
    await assert.rejects(store.bucket("removed"), is("no-such-bucket"));
    clock += 3_600_000;
    await store.sweep();
    assert.deepEqual(await blobIds(blobs), []);
  });

  test("who still holds a bucket that is gone writes nothing, not even into its successor", async () => {
    const store = open();
    const gone = await store.createBucket(ACCOUNT, "successor");
    const { uploadId } = await store.createUpload(gone, "upload");
    await store.deleteBucket("successor");
    const next = await store.createBucket(ACCOUNT, "successor");
    const refused = is("no-such-bucket");
    await assert.rejects(store.put(gone, "key", octets("a")), refused);
    await assert.rejects(store.put(gone, "key", octets("long enough for a blob")), refused);
    const conditions = { etagDoesNotMatch: [{ type: "wildcard" }] } as const;
    await assert.rejects(store.put(gone, "key", octets("a"), { conditions }), refused);
    await assert.rejects(store.createUpload(gone, "key"), refused);
    const part = store.uploadPart(gone, "upload", uploadId, 1, octets("a"));
    await assert.rejects(part, is("no-such-upload"));
    assert.equal((await store.get(gone, "key")).kind, "missing");
    assert.deepEqual((await store.list(next)).objects, []);
    assert.deepEqual(await blobIds(blobs), []);
  });

  test("of a put and a removal at the same time one wins, and nothing is left in between", async () => {
    const store = open();
    for (let round = 0; round < 20; round++) {
      const name = `contested-${round}`;
      const bucket = await store.createBucket(ACCOUNT, name);
      const [put, removal] = await Promise.allSettled([
        store.put(bucket, "key", octets("value")),
        store.deleteBucket(name),
      ]);
      assert.notEqual(put.status, removal.status);
      const refusal =
        put.status === "rejected" ? put.reason : (removal as PromiseRejectedResult).reason;
      const kind = put.status === "rejected" ? "no-such-bucket" : "bucket-not-empty";
      assert.ok(is(kind)(refusal), String(refusal));
    }
  });

  test("of an upload and a removal at the same time nothing is left that nobody can reach", async () => {
    const store = open();
    for (let round = 0; round < 20; round++) {
      const name = `contested-upload-${round}`;
      const bucket = await store.createBucket(ACCOUNT, name);
      const upload = async () => {
        const { uploadId } = await store.createUpload(bucket, "key");
        await store.uploadPart(bucket, "key", uploadId, 1, octets("a long enough part"));
      };
      const [, removal] = await Promise.allSettled([upload(), store.deleteBucket(name)]);
      if (removal.status === "rejected") await store.deleteBucket(name);
    }
    clock += 3_600_000;
    await store.sweep({ orphans: false });
    assert.deepEqual(await blobIds(blobs), []);
  });
});
