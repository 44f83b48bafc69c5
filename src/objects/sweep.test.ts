/** What is left behind is collected, and nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { acquireLease, releaseLease } from "#db";
import { randomId } from "#kit/random.ts";
import { until } from "../../test/support/patience.ts";
import type { BlobDriver } from "./driver.ts";
import { ObjectStore } from "./object-store.ts";
import {
  ACCOUNT,
  blobIds,
  forgetfulDriver,
  inPieces,
  octets,
  onBothEngines,
  smallLimits,
  textOf,
} from "./store.contract.ts";
import { wrapped } from "./trouble.contract.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

onBothEngines("the sweep", (db, open) => {
  let clock = 1_700_000_000_000;
  const now = () => clock;
  let made = 0;
  const storeOn = (blobs: BlobDriver, on = db()) =>
    new ObjectStore({ db: on, blobs, now, limits: smallLimits });
  const freshBucket = (store: ObjectStore) => store.createBucket(ACCOUNT, `sweep-${++made}`);
  const long = (text: string) => octets(`${text} is longer than a row`);

  test("deletes what was replaced, where nobody shares the store at once, else after an hour", async () => {
    const blobs = forgetfulDriver(now);
    const store = storeOn(blobs);
    const bucket = await freshBucket(store);
    await store.put(bucket, "a", long("first"));
    const [first] = await blobIds(blobs);
    await store.put(bucket, "a", long("second"));
    clock += HOUR_MS - 1;
    await store.sweep();
    assert.equal((await blobIds(blobs)).includes(first!), db().shared);
    clock += 1;
    await store.sweep();
    assert.equal((await blobIds(blobs)).length, 1);
    assert.equal(await textOf(await store.get(bucket, "a")), "second is longer than a row");
    await store.delete(bucket, ["a"]);
    clock += HOUR_MS;
    assert.equal((await store.sweep()).blobs, 1);
    assert.deepEqual(await blobIds(blobs), []);
  });

  test("deletes blobs that nothing names; where others write, a day old and not named for an hour", async () => {
    const blobs = forgetfulDriver(now);
    const store = storeOn(blobs);
    for (let i = 0; i < 150; i++) await blobs.put(randomId(), inPieces("an orphan"));
    const bucket = await freshBucket(store);
    await store.put(bucket, "a", long("a"));
    const { uploadId } = await store.createUpload(bucket, "b");
    await store.uploadPart(bucket, "b", uploadId, 1, long("b"));
    const orphans = async () => (await store.sweep()).orphans;
    const { shared } = db();
    assert.equal(await orphans(), shared ? 0 : 150);
    for (const wait of [DAY_MS, HOUR_MS - 1]) {
      clock += wait;
      assert.equal(await orphans(), 0);
    }
    clock += 1;
    assert.equal(await orphans(), shared ? 150 : 0);
    assert.equal((await blobIds(blobs)).length, 2);
    clock += DAY_MS;
    assert.equal(await orphans(), 0);
    await store.abortUpload(bucket, "b", uploadId);
    await store.delete(bucket, ["a"]);
    clock += HOUR_MS;
    await store.sweep({ orphans: false });
    assert.deepEqual(await blobIds(blobs), []);
  });

  test("leaves alone what is being written, from its first octet to its commit", async () => {
    const blobs = forgetfulDriver(now);
    const atCommit = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let writes = 0;
    const waiting = wrapped(db(), async (call, work) => {
      if (call === "write" && ++writes === 1) {
        atCommit.resolve();
        await goOn.promise;
      }
      return work();
    });
    const quick = storeOn(blobs);
    const bucket = await freshBucket(quick);
    const slow = storeOn(blobs, waiting);
    const put = slow.put(bucket, "a", long("a"));
    await atCommit.promise;
    assert.equal((await blobIds(blobs)).length, 1);
    clock += DAY_MS - 1; // Other nodes wait for a day.
    await slow.sweep();
    assert.equal((await blobIds(blobs)).length, 1);
    goOn.resolve();
    await put;
    assert.equal(await textOf(await quick.get(bucket, "a")), "a is longer than a row");
    await quick.delete(bucket, ["a"]);
  });

  test("is done by one node at a time", async () => {
    if (!db().shared) return;
    await using other = await open();
    const blobs = forgetfulDriver(now);
    const store = storeOn(blobs);
    await blobs.put(randomId(), inPieces("an orphan"));
    clock += DAY_MS;
    const lease = { name: "objects", holder: "another", seconds: 60 };
    assert.ok(await acquireLease(other, lease, clock));
    assert.deepEqual(await store.sweep(), { uploads: 0, blobs: 0, orphans: 0 });
    await releaseLease(other, lease);
    await store.sweep();
    clock += HOUR_MS;
    assert.equal((await store.sweep()).orphans, 1);
  });

  test("goes on by itself, soon after something was replaced, and ends with the store", async () => {
    const blobs = forgetfulDriver(now);
    const store = storeOn(blobs);
    const bucket = await freshBucket(store);
    const onError = (error: unknown) => assert.fail(String(error));
    store.startSweeping({ onError, everyMs: db().shared ? 20 : 60_000 });
    await store.put(bucket, "a", long("first"));
    await store.put(bucket, "a", long("second"));
    clock += HOUR_MS;
    await until(async () => (await blobIds(blobs)).length === 1);
    await store.delete(bucket, ["a"]);
    clock += HOUR_MS;
    await until(async () => (await blobIds(blobs)).length === 0);
    await store[Symbol.asyncDispose]();
  });
});
