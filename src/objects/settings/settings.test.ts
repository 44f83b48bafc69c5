import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryDriver } from "../drivers/memory.ts";
import { ObjectStore } from "../object-store.ts";
import { ACCOUNT, is, onBothEngines } from "../store.contract.ts";
import type { CorsRule } from "./cors.ts";
import type { LifecycleRule } from "./lifecycle.ts";

const cors: CorsRule = {
  origins: ["https://example.com"],
  methods: ["GET"],
  headers: [],
  exposed: [],
};
const lifecycle: LifecycleRule = {
  id: "old",
  enabled: true,
  filter: { form: "filter" },
  expiration: { days: 1 },
  transitions: [],
};

onBothEngines("the settings of a bucket", (db, open) => {
  let made = 0;
  const storeOn = (on = db()) =>
    new ObjectStore({ db: on, blobs: memoryDriver(Date.now), now: Date.now });
  const fresh = async (store: ObjectStore) => {
    const { name } = await store.createBucket(ACCOUNT, `settings-${++made}`);
    return () => store.bucket(name);
  };

  test("are null until they are set, stay when others change, and go when they are removed", async () => {
    const store = storeOn();
    const bucket = await fresh(store);
    assert.equal(await store.setting(await bucket(), "cors"), null);
    await store.setSetting(await bucket(), "cors", [cors]);
    await store.setSetting(await bucket(), "tags", { team: "a", "__proto__ ": "b" });
    await store.setSetting(await bucket(), "tags", { team: "b" });
    assert.deepEqual(await store.setting(await bucket(), "cors"), [cors]);
    assert.deepEqual(await store.setting(await bucket(), "tags"), { team: "b" });
    await store.removeSetting(await bucket(), "cors");
    await store.removeSetting(await bucket(), "cors");
    assert.equal(await store.setting(await bucket(), "cors"), null);
    assert.deepEqual(await store.setting(await bucket(), "tags"), { team: "b" });
  });

  test("are read once, and then known at once", async () => {
    const store = storeOn();
    const bucket = await fresh(store);
    assert.equal(store.setting(await bucket(), "public"), null);
    await store.setSetting(await bucket(), "public", { enabled: true, listing: false });
    const set = await bucket();
    assert.ok(store.setting(set, "public") instanceof Promise);
    await store.setting(set, "public");
    assert.deepEqual(store.setting(set, "public"), { enabled: true, listing: false });
  });

  test("go with their bucket, and another of its name has none", async () => {
    const store = storeOn();
    const bucket = await fresh(store);
    const { name } = await bucket();
    await store.setSetting(await bucket(), "lifecycle", [lifecycle]);
    const gone = await bucket();
    await store.deleteBucket(name);
    await assert.rejects(store.setSetting(gone, "cors", [cors]), is("no-such-bucket"));
    await store.createBucket(ACCOUNT, name);
    assert.equal(await store.setting(await bucket(), "lifecycle"), null);
  });

  test("are seen by every node that shares the database", async () => {
    if (!db().shared) return;
    await using other = await open();
    const [here, there] = [storeOn(), storeOn(other)];
    const bucket = await fresh(here);
    const { name } = await bucket();
    await here.setSetting(await bucket(), "tags", { a: "1" });
    assert.deepEqual(await there.setting(await there.bucket(name), "tags"), { a: "1" });
    await here.setSetting(await bucket(), "tags", { a: "2" });
    assert.deepEqual(await there.setting(await there.bucket(name), "tags"), { a: "2" });
  });

  test("that cannot be are refused, and change nothing", async () => {
    const store = storeOn();
    const bucket = await fresh(store);
    await store.setSetting(await bucket(), "cors", [cors]);
    const refused = store.setSetting(await bucket(), "cors", [{ ...cors, methods: ["PATCH"] }]);
    await assert.rejects(refused, is("bad-cors"));
    assert.deepEqual(await store.setting(await bucket(), "cors"), [cors]);
  });
});
