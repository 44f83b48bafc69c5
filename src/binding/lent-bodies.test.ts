import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, suite, test } from "node:test";
import type { Bucket, FoundObject } from "#objects";
import { gather } from "./byte-stream.ts";
import { LentBodies } from "./lent-bodies.ts";
import { openTestStore, type TestStore } from "./test-store.contract.ts";

const SIZE = 300_000;

suite("octets that are lent", () => {
  let opened: TestStore;
  let bucket: Bucket;
  before(async () => {
    opened = await openTestStore("sqlite");
    bucket = await opened.store.createBucket(opened.accountId, "things");
  });
  after(() => opened[Symbol.asyncDispose]());

  async function lend(lent: LentBodies, key: string) {
    const found = (await opened.store.get(bucket, key, {})) as FoundObject;
    return lent.lend(bucket, found)!;
  }

  test("are taken once, by their name, for the bucket that they are of", async () => {
    using lent = new LentBodies(opened.store, Date.now);
    const octets = randomBytes(SIZE);
    await opened.store.put(bucket, "once", octets);
    const name = await lend(lent, "once");
    const other = await opened.store.createBucket(opened.accountId, "others");
    assert.equal(await lent.take(`${name}x`), null);
    assert.equal(await lent.take(name, other), null);
    const taken = await lent.take(name, bucket);
    assert.equal(taken?.length, SIZE);
    assert.deepEqual(Buffer.from(await gather(taken.body, SIZE)), octets);
    assert.equal(await lent.take(name, bucket), null);
  });

  test("are found again when many have been lent since, unless they were replaced", async () => {
    using lent = new LentBodies(opened.store, Date.now);
    const octets = randomBytes(SIZE);
    for (const key of ["kept", "replaced"]) await opened.store.put(bucket, key, octets);
    const [kept, replaced] = [await lend(lent, "kept"), await lend(lent, "replaced")];
    for (let i = 0; i < 256; i++) await lend(lent, "kept");
    await opened.store.put(bucket, "replaced", randomBytes(SIZE));
    const again = await lent.take(kept);
    assert.deepEqual(Buffer.from(await gather(again!.body, SIZE)), octets);
    assert.equal(await lent.take(replaced), null);
  });

  test("are not those that lie in the database, or are encrypted", async () => {
    using lent = new LentBodies(opened.store, Date.now);
    const sealed = { encryption: { key: randomBytes(32) } };
    await opened.store.put(bucket, "small", randomBytes(1000));
    await opened.store.put(bucket, "sealed", randomBytes(SIZE), sealed);
    for (const [key, options] of [["small", {}] as const, ["sealed", sealed] as const]) {
      const found = await opened.store.get(bucket, key, options);
      assert.ok(found.kind === "found");
      assert.equal(lent.lend(bucket, found), null);
      if (!(found.body instanceof Uint8Array)) await found.body[Symbol.asyncIterator]().return?.();
    }
  });
});
