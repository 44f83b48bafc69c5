/** Many at once on the same keys, from one node and from several. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bytes, type Database, statement } from "#db";
import { chanceFrom } from "../../test/support/chance.ts";
import type { BlobDriver } from "./driver.ts";
import type { Bucket, Conditions } from "./model.ts";
import { ObjectStore } from "./object-store.ts";
import {
  ACCOUNT,
  blobIds,
  forgetfulDriver,
  octets,
  onBothEngines,
  smallLimits,
  textOf,
} from "./store.contract.ts";

const HOUR_MS = 3_600_000;
const AT_ONCE = 24;

const lostBodies = statement({
  sql: `SELECT slot FROM bodies
        WHERE NOT EXISTS (SELECT 1 FROM objects WHERE objects.slot = bodies.slot AND blob IS NULL)`,
  gives: { slot: bytes },
});

onBothEngines("at once", (db, open) => {
  let clock = 1_700_000_000_000;
  let blobs: BlobDriver;
  let second: Database | null = null;
  let stores: ObjectStore[];
  let bucket: Bucket;

  before(async () => {
    blobs = forgetfulDriver(() => clock);
    if (db().shared) second = await open();
    stores = [db(), ...(second === null ? [] : [second])].map(
      (on) => new ObjectStore({ db: on, blobs, now: () => clock++, limits: smallLimits }),
    );
    bucket = await stores[0]!.createBucket(ACCOUNT, "at-once");
  });
  after(() => second?.[Symbol.asyncDispose]());

  const storeFor = (i: number) => stores[i % stores.length]!;
  const all = <T>(work: (store: ObjectStore, i: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, i) => work(storeFor(i), i)));

  async function putsIf(key: string, conditions: Conditions): Promise<number> {
    const puts = await all((store, i) =>
      store.put(bucket, key, octets(`a long value, number ${i}`), { conditions }),
    );
    const winners = puts.filter((put) => put !== null);
    const object = await stores[0]!.head(bucket, key);
    if (winners.length > 0) assert.ok(winners.some(({ version }) => version === object?.version));
    return winners.length;
  }

  /** Nothing but what the objects hold is left, without a look for orphans. */
  async function mustHold(count: number): Promise<void> {
    clock += 2 * HOUR_MS;
    await stores[0]!.sweep({ orphans: false });
    assert.equal((await blobIds(blobs)).length, count);
    assert.deepEqual(await db().all(lostBodies({})), []);
  }

  test("of puts that must find nothing, exactly one wins", async () => {
    for (let round = 0; round < 10; round++) {
      const none: Conditions = { etagDoesNotMatch: [{ type: "wildcard" }] };
      assert.equal(await putsIf(`new ${round}`, none), 1);
    }
    await stores[0]!.delete(
      bucket,
      Array.from({ length: 10 }, (_, round) => `new ${round}`),
    );
    await mustHold(0);
  });

  test("of puts that must find one version, exactly one wins", async () => {
    for (let round = 0; round < 10; round++) {
      const { etag } = (await stores[0]!.put(bucket, "one", octets(`round ${round} begins`)))!;
      assert.equal(await putsIf("one", { etagMatches: [{ type: "strong", value: etag }] }), 1);
    }
    await mustHold(1);
  });

  test("puts without conditions all succeed, the last one stays, and the others' octets go", async () => {
    for (let round = 0; round < 20; round++) {
      const value = (i: number) => `${"long ".repeat(i % 3)}${i}`;
      const puts = await all((store, i) => store.put(bucket, "free", octets(value(i))));
      const got = await stores[0]!.get(bucket, "free");
      assert.equal(got.kind, "found");
      const winner = puts.findIndex((put) => put?.version === got.object.version);
      assert.equal(await textOf(got), value(winner));
      if (round % 4 === 0) await all((store) => store.delete(bucket, ["free"]));
    }
    await all<unknown>((store, i) =>
      i % 3 === 0
        ? store.delete(bucket, ["free"])
        : store.put(bucket, "free", octets("short, long".slice(i % 7))),
    );
    await stores[0]!.delete(bucket, ["free"]);
    await mustHold(1);
  });

  test("puts, deletes and uploads of the same keys leave only what is there in the end", async () => {
    const chance = chanceFrom(7);
    const keys = ["x", "y", "z"];
    for (let round = 0; round < 10; round++) {
      await all(async (store, i) => {
        const key = keys[chance(keys.length)]!;
        const what = chance(4);
        if (what === 0) return store.delete(bucket, [key, keys[chance(3)]!]);
        if (what < 3) return store.put(bucket, key, octets(`a long value, number ${i}`));
        const { uploadId } = await store.createUpload(bucket, key);
        const value = octets(`a long part, number ${i}`);
        const parts = await Promise.all(
          [1, 1, 2].map((n) => store.uploadPart(bucket, key, uploadId, n, value)),
        );
        return chance(2) === 0
          ? store.abortUpload(bucket, key, uploadId)
          : store.completeUpload(bucket, key, uploadId, parts.slice(1), { evenParts: true });
      });
    }
    for (const { key, etag } of (await stores[0]!.list(bucket)).objects) {
      assert.match(await textOf(await stores[0]!.get(bucket, key)), /^(a long|round)/, etag);
    }
    await stores[0]!.delete(bucket, [...keys, "one"]);
    await mustHold(0);
  });

  test("of uploads completed where nothing may be, exactly one becomes the object", async () => {
    const conditions: Conditions = { etagDoesNotMatch: [{ type: "wildcard" }] };
    const key = "completed once";
    const objects = await all(async (store, i) => {
      const { uploadId } = await store.createUpload(bucket, key);
      const part = await store.uploadPart(bucket, key, uploadId, 1, octets(`a part, ${i}`));
      const options = { evenParts: false, conditions };
      const object = await store.completeUpload(bucket, key, uploadId, [part], options);
      if (object === null) await store.abortUpload(bucket, key, uploadId);
      return object;
    });
    const winners = objects.filter((object) => object !== null);
    assert.equal(winners.length, 1);
    assert.deepEqual(await stores[0]!.head(bucket, key), winners[0]);
    await stores[0]!.delete(bucket, [key]);
  });

  test("what is deleted on a condition is what the condition was about", async () => {
    const key = "deleted if";
    for (let round = 0; round < 10; round++) {
      const old = await stores[0]!.put(bucket, key, octets(`the old value ${round}`));
      const conditions = { etagMatches: [{ type: "strong", value: old!.etag }] } as const;
      const [outcomes] = await Promise.all([
        all((store) => store.deleteIf(bucket, key, conditions)),
        storeFor(1).put(bucket, key, octets(`the new value ${round}`)),
      ]);
      const left = await stores[0]!.get(bucket, key);
      assert.equal(await textOf(left), `the new value ${round}`);
      assert.ok(outcomes.filter((outcome) => outcome === "deleted").length <= 1);
    }
    await stores[0]!.delete(bucket, [key]);
  });

  test("readers get whole values while these are overwritten and swept", async () => {
    const store = stores[0]!;
    const value = (i: number) => `${i} `.repeat(20_000);
    await store.put(bucket, "read", octets(value(0)));
    const writing = { isOver: false };
    const write = async () => {
      for (let i = 1; i <= 30; i++) {
        await store.put(bucket, "read", octets(value(i)));
        clock += 2 * HOUR_MS;
        await store.sweep({ orphans: i % 10 === 0 });
      }
      writing.isOver = true;
    };
    const read = async () => {
      while (!writing.isOver) {
        const text = await textOf(await store.get(bucket, "read"));
        assert.equal(text, value(Number(text.slice(0, text.indexOf(" ")))));
        await new Promise(setImmediate); // What lies in memory comes at once; the writer needs a turn.
      }
    };
    await Promise.all([write(), ...Array.from({ length: 8 }, read)]);
  });
});
