import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, suite, test } from "node:test";
import { type Bucket, type FoundObject, leave } from "#objects";
import { gather } from "./byte-stream.ts";
import { LentBodies } from "./lent-bodies.ts";
import { openTestStore, type TestStore } from "./test-store.contract.ts";

const SIZE = 300_000;

suite("octets that are lent", () => {
  let opened: TestStore;
  let bucket: Bucket;
  const octets = randomBytes(SIZE);
  before(async () => {
    opened = await openTestStore("sqlite");
    bucket = await opened.store.createBucket(opened.accountId, "things");
    await opened.store.put(bucket, "k", octets);
  });
  after(() => opened[Symbol.asyncDispose]());

  async function lend(lent: LentBodies, owner: string | null = "a") {
    const found = (await opened.store.get(bucket, "k", {})) as FoundObject;
    const loan = lent.lend(bucket, found, owner);
    if (loan === null) await leave(found.body);
    return loan;
  }

  test("are taken once, by their name, for their owner's client", async () => {
    using lent = new LentBodies();
    const { name, isSent } = (await lend(lent))!;
    assert.equal(lent.take(`${name}x`, "a"), null);
    assert.equal(lent.take(name, "b"), null);
    assert.equal(lent.take(name, null), null);
    const taken = lent.take(name, "a")!;
    assert.equal(taken.length, SIZE);
    assert.deepEqual(Buffer.from(await gather(taken.body, SIZE)), octets);
    assert.equal(await isSent, false);
    assert.equal(lent.take(name, "a"), null);
  });

  test("go to whoever was lent them when he asks, and to nobody else then", async () => {
    using lent = new LentBodies();
    const loan = (await lend(lent))!;
    const other = await opened.store.createBucket(opened.accountId, "others");
    lent.begin(loan.name, other);
    lent.begin(loan.name, bucket);
    assert.equal(await loan.isSent, true);
    assert.equal(lent.take(loan.name, "a"), null);
    await leave(loan.lent.body);
  });

  test("wait a while for the client's server, of each owner a number", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    using lent = new LentBodies();
    const first = (await lend(lent))!;
    first.linger();
    for (let i = 1; i < 512; i++) (await lend(lent))!.linger();
    assert.equal(await lend(lent), null);
    const another = (await lend(lent, "b"))!;
    assert.notEqual(lent.take(another.name, "b"), null);
    await leave(another.lent.body);
    t.mock.timers.tick(2_000);
    assert.equal(await first.isSent, false);
    assert.equal(lent.take(first.name, "a"), null);
    const again = (await lend(lent))!;
    assert.equal(lent.take(again.name, "a")?.length, SIZE);
    await leave(again.lent.body);
  });

  test("are not those that lie in the database, or are encrypted", async () => {
    using lent = new LentBodies();
    const sealed = { encryption: { key: randomBytes(32) } };
    await opened.store.put(bucket, "small", randomBytes(1000));
    await opened.store.put(bucket, "sealed", randomBytes(SIZE), sealed);
    for (const [key, options] of [["small", {}] as const, ["sealed", sealed] as const]) {
      const found = await opened.store.get(bucket, key, options);
      assert.ok(found.kind === "found");
      assert.equal(lent.lend(bucket, found, null), null);
      await leave(found.body);
    }
  });
});
