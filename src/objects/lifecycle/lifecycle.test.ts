/** Rules are carried out, on what they are for, and on nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { acquireLease, type Database, releaseLease } from "#db";
import { until } from "../../../test/support/patience.ts";
import { memoryDriver } from "../drivers/memory.ts";
import type { Bucket } from "../model.ts";
import { ObjectStore } from "../object-store.ts";
import type { LifecycleRule } from "../settings/lifecycle.ts";
import { ACCOUNT, octets, onBothEngines, putAll } from "../store.contract.ts";
import { wrapped } from "../trouble.contract.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const rule = (id: string, more: Partial<LifecycleRule>): LifecycleRule => ({
  id,
  enabled: true,
  filter: { form: "filter" },
  transitions: [],
  ...more,
});

onBothEngines("the lifecycle", (db, open) => {
  let clock = Date.UTC(2026, 10, 15, 10);
  let made = 0;
  const storeOn = (on: Database) =>
    new ObjectStore({ db: on, blobs: memoryDriver(() => clock), now: () => clock });
  const freshBucket = async (store: ObjectStore, ...rules: readonly LifecycleRule[]) => {
    const bucket = await store.createBucket(ACCOUNT, `lifecycle-${++made}`);
    await store.setSetting(bucket, "lifecycle", rules);
    return bucket;
  };
  const keysOf = async (store: ObjectStore, bucket: Bucket) =>
    (await store.list(bucket)).objects.map(({ key }) => key);

  test("removes what has expired, from the midnight on that its rule says", async () => {
    await using store = storeOn(db());
    const bucket = await freshBucket(
      store,
      rule("logs", { filter: { form: "filter", prefix: "logs/" }, expiration: { days: 1 } }),
      rule("off", { enabled: false, expiration: { days: 1 } }),
    );
    for (const key of ["logs", "logs/a", "logs/b", "logz"])
      await store.put(bucket, key, octets(key));
    clock = Date.UTC(2026, 10, 16, 23, 59, 59);
    assert.equal((await store.carryOutLifecycle()).expired, 0);
    clock += 1_000;
    assert.equal((await store.carryOutLifecycle()).expired, 2);
    assert.deepEqual(await keysOf(store, bucket), ["logs", "logz"]);
    assert.deepEqual(await store.carryOutLifecycle(), { expired: 0, transitioned: 0, aborted: 0 });
  });

  test("goes by tags and sizes, and moves what need not go", async () => {
    await using store = storeOn(db());
    const bucket = await freshBucket(
      store,
      rule("tagged", {
        filter: { form: "and", tags: { tmp: "yes" }, largerThan: 2 },
        expiration: { days: 1 },
      }),
      rule("move", { transitions: [{ when: { days: 1 }, storageClass: "InfrequentAccess" }] }),
    );
    await store.put(bucket, "large", octets("large"), { tags: { tmp: "yes" } });
    await store.put(bucket, "small", octets("s"), { tags: { tmp: "yes" } });
    await store.put(bucket, "untagged", octets("untagged"));
    clock += 2 * DAY_MS;
    const { expired, transitioned } = await store.carryOutLifecycle();
    assert.deepEqual({ expired, transitioned }, { expired: 1, transitioned: 2 });
    const { objects } = await store.list(bucket);
    assert.deepEqual(
      objects.map(({ key, storageClass }) => [key, storageClass]),
      [
        ["small", "InfrequentAccess"],
        ["untagged", "InfrequentAccess"],
      ],
    );
  });

  test("aborts uploads that are not completed in time", async () => {
    await using store = storeOn(db());
    const bucket = await freshBucket(store, rule("abort", { abortUploadsAfterDays: 1 }));
    clock += HOUR_MS;
    await store.createUpload(bucket, "old");
    clock += DAY_MS;
    await store.createUpload(bucket, "young");
    clock += DAY_MS;
    assert.equal((await store.carryOutLifecycle()).aborted, 1);
    assert.deepEqual(
      (await store.listUploads(bucket)).uploads.map(({ key }) => key),
      ["young"],
    );
  });

  test("walks many pages, and every bucket that has rules", async () => {
    await using store = storeOn(db());
    const date = Date.UTC(2026, 0, 1);
    const buckets = [
      await freshBucket(store, rule("all", { expiration: { date } })),
      await freshBucket(
        store,
        rule("b", { filter: { form: "rule", prefix: "b" }, expiration: { date } }),
        rule("a1", { filter: { form: "rule", prefix: "a1" }, expiration: { date } }),
      ),
    ];
    for (const bucket of buckets) {
      const keys = Array.from({ length: 700 }, (_, i) => `${"ab"[i % 2]}${i % 3}/${i}`);
      await putAll(store, bucket, keys);
    }
    const { expired } = await store.carryOutLifecycle();
    assert.deepEqual(await keysOf(store, buckets[0]!), []);
    const left = await keysOf(store, buckets[1]!);
    assert.ok(left.every((key) => key.startsWith("a") && !key.startsWith("a1")));
    assert.equal(expired, 1400 - left.length);
    assert.ok(left.length > 200);
  });

  test("is carried out again when rules change, not before the next day otherwise", async () => {
    await using store = storeOn(db());
    const expire = (prefix: string) =>
      rule("r", { filter: { form: "filter", prefix }, expiration: { date: 0 } });
    const bucket = await freshBucket(store, expire("a"));
    await store.carryOutLifecycle();
    await store.put(bucket, "a", octets("a"));
    await store.put(bucket, "b", octets("b"));
    assert.equal((await store.carryOutLifecycle()).expired, 0);
    await store.setSetting(bucket, "lifecycle", [expire("b")]);
    assert.equal((await store.carryOutLifecycle()).expired, 1);
    assert.deepEqual(await keysOf(store, bucket), ["a"]);
    await store.setSetting(bucket, "lifecycle", [expire("a")]);
    await store.carryOutLifecycle();
    await store.put(bucket, "a", octets("a"));
    clock += DAY_MS;
    assert.equal((await store.carryOutLifecycle()).expired, 1);
  });

  test("an object that is replaced while its bucket is walked stays", async () => {
    // The put comes when the walk has read its page and before it deletes.
    let replace: (() => Promise<unknown>) | null = null;
    const disturbed: Database = {
      ...wrapped(db(), (_, work) => work()),
      async all(query) {
        const found = await db().all(query);
        const act = found.length > 0 && query.text.sqlite.includes("FROM objects") ? replace : null;
        if (act !== null) {
          replace = null;
          await act();
        }
        return found;
      },
    };
    await using store = storeOn(disturbed);
    await using other = storeOn(db());
    const bucket = await freshBucket(store, rule("all", { expiration: { days: 1 } }));
    await store.put(bucket, "a", octets("old"));
    await store.put(bucket, "b", octets("old"));
    clock += 3 * DAY_MS;
    replace = () => other.put(bucket, "a", octets("old"));
    assert.equal((await store.carryOutLifecycle()).expired, 1);
    assert.deepEqual(await keysOf(store, bucket), ["a"]);
  });

  test("a walk that was cut goes on where it was, and a bucket that fails stops no other", async () => {
    let cutBucket = 0;
    let reads = 0;
    const failing: Database = {
      ...wrapped(db(), (_, work) => work()),
      async all(query) {
        const isPage = query.text.sqlite.includes("FROM objects");
        if (isPage && query.values.includes(cutBucket) && ++reads === 2) throw new Error("cut");
        return db().all(query);
      },
    };
    await using store = storeOn(failing);
    await using whole = storeOn(db());
    const first = await freshBucket(store, rule("x", { expiration: { days: 1 } }));
    const second = await freshBucket(store, rule("x", { expiration: { days: 1 } }));
    const keys = Array.from({ length: 510 }, (_, i) => `${1000 + i}`);
    await putAll(whole, first, keys);
    await whole.put(second, "a", octets("a"));
    clock += 2 * DAY_MS;
    cutBucket = first.number;
    await assert.rejects(store.carryOutLifecycle(), { message: "cut" });
    assert.equal((await keysOf(whole, first)).length, 10);
    assert.deepEqual(await keysOf(whole, second), []);
    // What lies before the place is not looked at again.
    await whole.put(first, "0", octets("0"));
    assert.equal((await store.carryOutLifecycle()).expired, 10);
    assert.deepEqual(await keysOf(whole, first), ["0"]);
  });

  test("is the work of one node at a time", async () => {
    if (!db().shared) return;
    await using other = await open();
    await using store = storeOn(other);
    const bucket = await freshBucket(store, rule("all", { expiration: { date: 0 } }));
    await store.put(bucket, "a", octets("a"));
    const lease = { name: "lifecycle", holder: "another", seconds: 60 };
    assert.ok(await acquireLease(db(), lease, clock));
    assert.equal((await store.carryOutLifecycle()).expired, 0);
    await releaseLease(db(), lease);
    assert.equal((await store.carryOutLifecycle()).expired, 1);
  });

  test("goes on by itself, soon after rules are set", async () => {
    await using store = storeOn(db());
    let expired = 0;
    store.startLifecycle({
      onError: (error) => assert.fail(error as Error),
      onDone: (done) => (expired += done.expired),
    });
    const bucket = await freshBucket(store, rule("none", { expiration: { days: 1 } }));
    await store.put(bucket, "a", octets("a"));
    await store.setSetting(bucket, "lifecycle", [rule("all", { expiration: { date: 0 } })]);
    await until(async () => (await keysOf(store, bucket)).length === 0);
    await until(() => expired > 0);
  });

  test("rules that go do nothing more, and a bucket with rules can be deleted", async () => {
    await using store = storeOn(db());
    const bucket = await freshBucket(store, rule("all", { expiration: { days: 1 } }));
    await store.carryOutLifecycle();
    await store.put(bucket, "a", octets("a"));
    await store.removeSetting(bucket, "lifecycle");
    clock += 9 * DAY_MS;
    await store.carryOutLifecycle();
    assert.deepEqual(await keysOf(store, bucket), ["a"]);
    await store.delete(bucket, ["a"]);
    await store.deleteBucket(bucket.name);
  });
});
