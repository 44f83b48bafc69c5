/** Objects that are asked for again and again: read once, and never old. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { before, suite, test } from "node:test";
import type { Database } from "#db";
import { Changes } from "#kit/changes.ts";
import { Generations } from "#kit/generations.ts";
import type { BlobDriver } from "./driver.ts";
import { memoryDriver } from "./drivers/memory.ts";
import type { Body, Bucket, GetResult, ObjectInfo } from "./model.ts";
import type { FoundObject, InfoRow } from "./object-rows.ts";
import { ObjectStore } from "./object-store.ts";
import { RecentObjects } from "./recent-objects.ts";
import { DAY_MS } from "./settings/lifecycle.ts";
import { ACCOUNT, octets, onBothEngines, read } from "./store.contract.ts";
import { troubles, wrapped } from "./trouble.contract.ts";

/** As many as lie in a row here. */
const MANY_OCTETS = 64 * 1024;
/** The first time nothing is kept yet. */
const TIMES = 3;

const ROW: InfoRow = {
  version: "1",
  size: 1,
  etag: "",
  uploadedAt: 0,
  storageClass: "Standard",
  partCount: null,
  checksums: null,
  encryption: null,
  metadata: null,
};

onBothEngines("objects asked for again", (db) => {
  const generations = new Generations();
  let clock = Date.UTC(2026, 10, 15);
  let blobs: BlobDriver;
  let store: ObjectStore;
  let other: ObjectStore;
  let bucket: Bucket;
  let reads = 0;
  let keys = 0;

  before(async () => {
    blobs = memoryDriver(() => clock);
    const on = counting(db(), () => reads++);
    const options = { blobs, now: () => clock, limits: { inlineOctets: MANY_OCTETS }, generations };
    store = new ObjectStore({ ...options, db: on });
    other = new ObjectStore({ ...options, db: db() });
    bucket = await store.createBucket(ACCOUNT, "recent");
  });

  const found = async (
    key: string,
    from = store,
  ): Promise<{ object: ObjectInfo; body: string }> => {
    const got = await from.get(bucket, key);
    assert.ok(got.kind === "found");
    return { object: got.object, body: Buffer.from(await read(got.body)).toString() };
  };
  /** A new key, whose object both stores have read until they keep it. */
  const knownKey = async (value: string): Promise<string> => {
    const key = `key ${++keys}`;
    await store.put(bucket, key, octets(value));
    for (let i = 0; i < TIMES; i++) {
      for (const from of [store, other]) {
        assert.equal((await from.head(bucket, key))?.size, value.length);
        assert.equal((await found(key, from)).body, value);
      }
    }
    return key;
  };

  test("are read no more where only this process changes them", async () => {
    const key = await knownKey("asked for again");
    reads = 0;
    await found(key);
    await store.head(bucket, key);
    assert.equal(reads, db().shared ? 2 : 0);
  });

  test("are read in ranges, too", async () => {
    const key = await knownKey("as they were put");
    const { body } = (await store.get(bucket, key, {
      range: { offset: 3, length: 4 },
    })) as GetResult & { body: Uint8Array };
    assert.equal(Buffer.from(body).toString(), "they");
  });

  test("are read with all their octets, of which there may be many", async () => {
    const value = "x".repeat(MANY_OCTETS);
    const key = await knownKey(value);
    reads = 0;
    assert.equal((await found(key)).body, value);
    assert.equal(reads, db().shared ? 1 : 0);
  });

  const changes: Record<string, (key: string) => Promise<unknown>> = {
    "a put": (key) => store.put(bucket, key, octets("new")),
    "a put of a blob": (key) => store.put(bucket, key, octets("y".repeat(MANY_OCTETS + 1))),
    "a conditional put": (key) =>
      store.put(bucket, key, octets("new"), {
        conditions: { etagMatches: [{ type: "wildcard" }] },
      }),
    "a delete": (key) => store.delete(bucket, ["another", key]),
    "a conditional delete": (key) => store.deleteIf(bucket, key, {}),
    "other tags": (key) => store.setTags(bucket, key, { color: "green" }),
    "another storage class": async (key) => {
      const { version } = (await store.head(bucket, key))!;
      assert.ok(await store.transition(bucket, key, version, "InfrequentAccess"));
    },
    "a completed upload": async (key) => {
      const { uploadId } = await store.createUpload(bucket, key);
      const { etag } = await store.uploadPart(bucket, key, uploadId, 1, octets("of parts"));
      const options = { evenParts: true, isRepeatable: false };
      await store.completeUpload(bucket, key, uploadId, [{ partNumber: 1, etag }], options);
    },
    "a lifecycle rule": async () => {
      const rule = {
        id: "all",
        enabled: true,
        filter: { form: "filter" },
        transitions: [],
      } as const;
      await store.setSetting(bucket, "lifecycle", [{ ...rule, expiration: { days: 1 } }]);
      clock += 2 * DAY_MS;
      assert.ok((await store.carryOutLifecycle()).expired > 0);
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    test(`are seen as they are after ${name}, by every store`, async () => {
      const key = await knownKey("before");
      const was = await shown(store.get(bucket, key));
      await change(key);
      const fresh = new ObjectStore({ db: db(), blobs, now: () => clock });
      const [now, head] = [await shown(fresh.get(bucket, key)), await fresh.head(bucket, key)];
      assert.notDeepEqual(now, was);
      for (const from of [store, other]) {
        for (let i = 0; i < TIMES; i++) {
          assert.deepEqual(await from.head(bucket, key), head);
          assert.deepEqual(await shown(from.get(bucket, key)), now);
        }
      }
    });
  }

  test("are the old ones while a put is under way, and the new ones when it is done", async () => {
    const key = await knownKey("old");
    const gate = Promise.withResolvers<void>();
    const slow = async function* (): Body {
      yield octets("new ");
      await gate.promise;
      yield octets("value");
    };
    const put = store.put(bucket, key, slow());
    for (let i = 0; i < TIMES; i++) {
      for (const from of [store, other]) assert.equal((await found(key, from)).body, "old");
    }
    reads = 0;
    await store.head(bucket, key);
    assert.equal(reads, db().shared ? 1 : 0, "a slow client has nobody read again");
    gate.resolve();
    await put;
    for (const from of [store, other]) assert.equal((await found(key, from)).body, "new value");
  });

  for (const [name, now] of [
    ["a call that fails", "old"],
    ["a call whose answer is lost", "new"],
  ] as const) {
    test(`are what is there after ${name}`, async () => {
      const key = await knownKey("old");
      const { around } = troubles[name]!(1);
      const on = wrapped(db(), around);
      const troubled = new ObjectStore({ db: on, blobs, now: () => clock, generations });
      await assert.rejects(troubled.put(bucket, key, octets("new")));
      for (const from of [store, other]) {
        for (let i = 0; i < TIMES; i++) assert.equal((await found(key, from)).body, now);
      }
    });
  }
});

test("rows with much metadata are kept in less memory than 8 MiB", () => {
  const recent = new RecentObjects(new Changes());
  const bucket = { number: 1 } as Bucket;
  const custom = Object.fromEntries(Array.from({ length: 1024 }, (_, i) => [`name${i}`, ""]));
  const metadata = { custom, http: { contentType: "x".repeat(8 * 1024) } };
  const keysOfAll = Array.from({ length: 2_000 }, (_, i) => `key ${i}`);
  for (const key of keysOfAll) {
    for (let i = 0; i < 2; i++) recent.noteInfo(bucket, key, 0, { ...ROW, metadata });
  }
  const found = keysOfAll.filter((key) => recent.info(bucket, key) !== null);
  assert.ok(found.length > 0);
  assert.ok(found.length * JSON.stringify(metadata).length < 8 * 1024 ** 2, `${found.length} rows`);
});

suite("what is read in turn", () => {
  const octetsEach = 64 * 1024;
  const row = { ...ROW, body: new Uint8Array(octetsEach) } as unknown as FoundObject;
  const bucket = { number: 1 } as Bucket;

  /** How many of so many objects are kept when all have been read so often. */
  function keptOf(objects: number, times: number): number {
    const recent = new RecentObjects(new Changes());
    const all = Array.from({ length: objects }, (_, i) => `key ${i}`);
    for (let i = 0; i < times; i++) {
      for (const key of all) {
        if (recent.whole(bucket, key) === null) recent.noteWhole(bucket, key, 0, row);
      }
    }
    return all.filter((key) => recent.whole(bucket, key) !== null).length;
  }

  test("is kept where all of it can be", () => {
    assert.equal(keptOf(300, 1), 0);
    assert.ok(keptOf(300, 2) > 290, "all but those that share a slot");
  });

  test("is not where it would go before it is read again", () => {
    assert.equal(keptOf(2_000, 4), 0);
  });
});

function counting(db: Database, count: () => void): Database {
  return new Proxy(db, {
    get(target, name) {
      if (name === "first") count();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** To be compared: the octets as their hash, whichever way they come. */
async function shown(asked: Promise<GetResult>): Promise<unknown> {
  const got = await asked;
  return got.kind === "found" ? { ...got, body: hash("sha256", await read(got.body)) } : got;
}
