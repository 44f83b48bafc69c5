/** Lists, on both engines: compared with what plain code makes of the same keys. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import fc from "fast-check";
import { memoryDriver } from "./drivers/memory.ts";
import type { Bucket, ListOptions, ListPage } from "./model.ts";
import { ObjectStore } from "./object-store.ts";
import { ACCOUNT, is, octets, onBothEngines, putAll } from "./store.contract.ts";

onBothEngines("lists", (db) => {
  let store: ObjectStore;
  let made = 0;

  before(() => {
    store = new ObjectStore({ db: db(), blobs: memoryDriver(), now: Date.now });
  });

  async function bucketWith(keys: readonly string[]): Promise<Bucket> {
    const bucket = await store.createBucket(ACCOUNT, `lists-${++made}`);
    await putAll(store, bucket, keys);
    return bucket;
  }

  async function pages(bucket: Bucket, options: ListOptions): Promise<ListPage[]> {
    const all: ListPage[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      all.push(await store.list(bucket, { ...options, ...(cursor !== undefined && { cursor }) }));
      cursor = all.at(-1)!.cursor;
    }
    return all;
  }

  const keysOf = ({ objects }: ListPage) => objects.map(({ key }) => key);

  test("an empty bucket has one empty page", async () => {
    const bucket = await bucketWith([]);
    const empty = { objects: [], prefixes: [], cursor: null };
    assert.deepEqual(await store.list(bucket), empty);
    assert.deepEqual(await store.list(bucket, { prefix: "a", delimiter: "/" }), empty);
  });

  test("keys come in the order of their UTF-8", async () => {
    const sorted = ["", "\0", "\0\0", "Z", "a", "a\0", "a/", "aa", "z", "é", "\uFFFD", "\u{1F600}"];
    const bucket = await bucketWith(sorted.toReversed());
    assert.deepEqual(keysOf(await store.list(bucket)), sorted);
    assert.deepEqual(keysOf(await store.list(bucket, { delimiter: "x" })), sorted);
  });

  test("listed objects are as head tells them", async () => {
    const bucket = await bucketWith([]);
    const options = { http: { contentType: "a/b" }, custom: { c: "d" } };
    await store.put(bucket, "with", octets("1"), options);
    await store.put(bucket, "without", octets("2"), {
      checksums: [{ algorithm: "sha1", value: "da4b9237bacccdf19c0760cab7aec4a8359010b0" }],
    });
    const heads = await Promise.all(["with", "without"].map((key) => store.head(bucket, key)));
    assert.deepEqual((await store.list(bucket)).objects, heads);
    const bare = heads.map((head) => ({ ...head, http: {}, custom: {} }));
    assert.deepEqual((await store.list(bucket, { metadata: false })).objects, bare);
  });

  test("a page has from 1 to 1000 entries", async () => {
    const bucket = await bucketWith(["a", "b"]);
    for (const limit of [0, -1, 1001, 1.5, NaN, Infinity]) {
      await assert.rejects(store.list(bucket, { limit }), is("bad-limit"));
    }
    assert.equal((await store.list(bucket, { limit: 1000 })).objects.length, 2);
    const [first, second] = await pages(bucket, { limit: 1 });
    assert.deepEqual([keysOf(first!), keysOf(second!)], [["a"], ["b"]]);
  });

  test("a page that shows exactly the rest is the last", async () => {
    const bucket = await bucketWith(["a", "b", "c/1", "c/2"]);
    assert.equal((await store.list(bucket, { limit: 4 })).cursor, null);
    assert.equal((await store.list(bucket, { limit: 3, delimiter: "/" })).cursor, null);
    assert.notEqual((await store.list(bucket, { limit: 3 })).cursor, null);
  });

  test("a cursor that no list has given is refused", async () => {
    const bucket = await bucketWith(["a"]);
    for (const cursor of ["bad", "YQ", "\uD800"]) {
      await assert.rejects(store.list(bucket, { cursor }), is("bad-cursor"));
    }
    for (const name of ["prefix", "startAfter", "delimiter"] as const) {
      await assert.rejects(store.list(bucket, { [name]: "\uD800" }), is("bad-key"));
    }
  });

  test("empty options are none", async () => {
    const bucket = await bucketWith(["", "a/b"]);
    const options = { prefix: "", cursor: "", delimiter: "", startAfter: "" };
    assert.deepEqual(keysOf(await store.list(bucket, options)), ["", "a/b"]);
  });

  test("keys put behind the cursor appear, keys before it do not", async () => {
    const bucket = await bucketWith(["b", "d", "f"]);
    const { cursor } = await store.list(bucket, { limit: 2 });
    for (const key of ["a", "c", "d\0", "e"]) await store.put(bucket, key, octets(""));
    assert.deepEqual(keysOf(await store.list(bucket, { cursor: cursor! })), ["d\0", "e", "f"]);
  });

  test("a group is never split or shown again, also when keys are added to it", async () => {
    const bucket = await bucketWith(["a/1", "a/2", "b/1", "c"]);
    const first = await store.list(bucket, { delimiter: "/", limit: 1 });
    assert.deepEqual(first.prefixes, ["a/"]);
    await store.put(bucket, "a/3", octets(""));
    const rest = await store.list(bucket, { delimiter: "/", cursor: first.cursor! });
    assert.deepEqual([rest.prefixes, keysOf(rest)], [["b/"], ["c"]]);
  });

  test("a group in which the start lies is shown while it has keys behind it", async () => {
    const bucket = await bucketWith(["a/1", "a/2", "b"]);
    const at = async (startAfter: string) =>
      (await store.list(bucket, { delimiter: "/", startAfter })).prefixes;
    assert.deepEqual(await at("a/1"), ["a/"]);
    assert.deepEqual(await at("a/2"), []);
  });

  test("a page with much metadata is shorter, and the next ones bring the rest", async () => {
    const bucket = await bucketWith([]);
    const keys = Array.from({ length: 100 }, (_, i) => `key ${100 + i}`);
    const custom = { a: "x".repeat(8_000) };
    await Promise.all(keys.map((key) => store.put(bucket, key, octets(""), { custom })));
    const all = await pages(bucket, {});
    assert.equal(all.length, 4);
    assert.deepEqual(all.flatMap(keysOf), keys);
    assert.equal((await store.list(bucket, { metadata: false })).objects.length, 100);
  });

  test("with many keys in few groups a page costs a few steps, not all keys", async () => {
    const keys = Array.from({ length: 3_000 }, (_, i) => `${i % 3}/${String(i).padStart(5, "0")}`);
    const bucket = await bucketWith([...keys, "9"]);
    const page = await store.list(bucket, { delimiter: "/" });
    assert.deepEqual([page.prefixes, keysOf(page)], [["0/", "1/", "2/"], ["9"]]);
  });

  test("any list of any keys is what plain code makes of them", async () => {
    const piece = fc.constantFrom("a", "b", "/", "//", "é", "\u{1F600}", "\0", "-");
    const text = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
    const query = fc.record(
      {
        prefix: text,
        delimiter: text,
        startAfter: text,
        limit: fc.integer({ min: 1, max: 7 }),
      },
      { requiredKeys: ["limit"] },
    );
    const property = fc.asyncProperty(
      fc.uniqueArray(text, { maxLength: 25 }),
      fc.array(query, { minLength: 1, maxLength: 10 }),
      async (keys, queries) => {
        const bucket = await bucketWith(keys);
        for (const query of queries) {
          const entries = (await pages(bucket, query)).map(({ objects, prefixes, cursor }) => {
            const all = [...objects.map(({ key }) => key), ...prefixes];
            if (cursor !== null) assert.equal(all.length, query.limit);
            return all.sort(byOctets);
          });
          assert.deepEqual(entries.flat(), plainList(keys, query));
        }
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });
});

function plainList(keys: readonly string[], options: ListOptions): string[] {
  const { prefix = "", delimiter = "", startAfter = "" } = options;
  const entries = keys
    .filter((key) => key.startsWith(prefix))
    .filter((key) => startAfter === "" || byOctets(key, startAfter) > 0)
    .map((key) => {
      const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
      return at === -1 ? key : key.slice(0, at + delimiter.length);
    });
  return [...new Set(entries)].sort(byOctets);
}

function byOctets(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
