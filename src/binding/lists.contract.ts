/** list: order, pages, groups, and which metadata comes along. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { atMost } from "#kit/at-once.ts";
import { rejects, throws, wrong } from "./expect.contract.ts";
import type { Buckets } from "./store-bucket.contract.ts";
import type { Compatibility } from "./store-bucket.ts";
import type { StoreBucket, StoreListOptions, StoreObjects } from "./types.ts";

/** Each has a connection of its own. */
const AT_ONCE = 32;

const today: Compatibility = { honorsInclude: true, keepsDelimiter: false, showsAbsent: false };

export function lists(buckets: Buckets): void {
  const filled = async (
    keys: readonly string[],
    compatibility?: Compatibility,
  ): Promise<StoreBucket> => {
    const bucket = await buckets.fresh(compatibility);
    await atMost(AT_ONCE, keys, async (key) => {
      const [httpMetadata, customMetadata] = [{ contentType: "t" }, { of: key }];
      await bucket.put(key, key, { httpMetadata, customMetadata });
    });
    return bucket;
  };
  order(filled);
  pages(filled);
  groups(filled);
  includes(filled);
  refusals(buckets);
}

type Filled = (keys: readonly string[], compatibility?: Compatibility) => Promise<StoreBucket>;

const keysOf = ({ objects }: StoreObjects) => objects.map(({ key }) => key);

function order(filled: Filled): void {
  suite("list()", () => {
    test("gives the objects in the order of their keys' UTF-8 octets", async () => {
      const keys = ["A", "a", "a ", "a/", "z", "é", "\ufffd", "😀"];
      const bucket = await filled(keys.toReversed());
      const listed = await bucket.list();
      assert.deepEqual(keysOf(listed), keys);
      assert.deepEqual(
        { ...listed, objects: [] },
        { objects: [], truncated: false, delimitedPrefixes: [] },
      );
      assert.equal("cursor" in listed, false, "there only when truncated");
    });

    test("gives objects without a body and a range, with checksums", async () => {
      const bucket = await filled(["k"]);
      await bucket.createMultipartUpload("upload");
      const { objects } = await bucket.list();
      const head = (await bucket.head("k"))!;
      assert.equal(objects.length, 1, "an upload under way is not listed");
      const { range, httpMetadata, customMetadata, ...others } = head;
      assert.deepEqual(range, { offset: 0, length: 1 });
      assert.ok(httpMetadata !== undefined && customMetadata !== undefined);
      assert.deepEqual(
        { ...objects[0]! },
        { ...others, range: undefined, httpMetadata: undefined, customMetadata: undefined },
      );
      assert.equal("body" in objects[0]!, false);
    });

    test("gives StoreObjects like any other", async () => {
      const bucket = await filled(["k"]);
      const listed = (await bucket.list({ include: ["httpMetadata"] })).objects[0]!;
      const head = (await bucket.head("k"))!;
      assert.equal(Object.prototype.toString.call(listed), "[object HeadResult]");
      assert.deepEqual(Object.keys(listed), Object.keys(head), "in the same order");
      const { range, customMetadata, ...others } = JSON.parse(JSON.stringify(head)) as object & {
        [field: string]: unknown;
      };
      assert.ok(range !== undefined && customMetadata !== undefined);
      assert.deepEqual(JSON.parse(JSON.stringify(listed)), others);
      assert.deepEqual(new Uint8Array(listed.checksums.md5!), new Uint8Array(head.checksums.md5!));
      assert.equal(listed.checksums.md5, listed.checksums.md5);
      assert.deepEqual(Object.keys(listed.checksums), "sha512 sha384 sha256 sha1 md5".split(" "));
      assert.deepEqual({ ...listed.checksums }.md5, head.checksums.md5);
      const headers = new Headers();
      listed.writeHttpMetadata(headers);
      assert.equal(headers.get("content-type"), "t");
      assert.throws(() => structuredClone(listed), { name: "DataCloneError" });
    });

    test("of an empty bucket is empty", async () => {
      const bucket = await filled([]);
      const { objects, truncated, delimitedPrefixes } = await bucket.list({ delimiter: "/" });
      assert.deepEqual(
        { objects, truncated, delimitedPrefixes },
        {
          objects: [],
          truncated: false,
          delimitedPrefixes: [],
        },
      );
    });
  });

  suite("list({ prefix, startAfter })", () => {
    test("prefix limits to keys that begin so; empty is none", async () => {
      const bucket = await filled(["a", "ab", "abc", "b"]);
      assert.deepEqual(keysOf(await bucket.list({ prefix: "ab" })), ["ab", "abc"]);
      assert.equal((await bucket.list({ prefix: "" })).objects.length, 4);
      assert.deepEqual(keysOf(await bucket.list({ prefix: "zz" })), []);
    });

    test("startAfter is exclusive, need not exist, and counts beside the prefix", async () => {
      const bucket = await filled(["a", "ab", "abc", "b"]);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "ab" })), ["abc", "b"]);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "aa" })), ["ab", "abc", "b"]);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "ab", prefix: "a" })), ["abc"]);
      assert.deepEqual(keysOf(await bucket.list({ startAfter: "" })).length, 4);
    });
  });
}

function pages(filled: Filled): void {
  suite("list({ limit, cursor })", () => {
    test("pages follow each other without gaps or repeats", async () => {
      const keys = Array.from({ length: 25 }, (_, i) => `k${String(i).padStart(2, "0")}`);
      const bucket = await filled(keys);
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const options: StoreListOptions = { limit: 10, ...(cursor !== undefined && { cursor }) };
        const page = await bucket.list(options);
        assert.equal(page.truncated, page.cursor !== undefined);
        assert.ok(page.objects.length <= 10);
        found.push(...keysOf(page));
        cursor = page.cursor;
      } while (cursor !== undefined);
      assert.deepEqual(found, keys);
    });

    test("a page that is exactly the rest is not truncated", async () => {
      const bucket = await filled(["a", "b"]);
      assert.equal((await bucket.list({ limit: 2 })).truncated, false);
      assert.equal((await bucket.list({ limit: 1 })).truncated, true);
    });

    test("a cursor works with another limit, and shows what came behind it meanwhile", async () => {
      const bucket = await filled(["a", "b", "c", "d"]);
      const { cursor } = await bucket.list({ limit: 2 });
      await bucket.put("aa", "");
      await bucket.put("bb", "");
      await bucket.delete("c");
      assert.deepEqual(keysOf(await bucket.list({ cursor: cursor! })), ["bb", "d"]);
    });

    test("with cursor and startAfter the later one counts", async () => {
      const bucket = await filled(["a", "b", "c", "d"]);
      const { cursor } = await bucket.list({ limit: 2 });
      const list = (startAfter: string) => bucket.list({ cursor: cursor!, startAfter });
      assert.deepEqual(keysOf(await list("a")), ["c", "d"]);
      assert.deepEqual(keysOf(await list("c")), ["d"]);
    });

    test("limit is converted to an integer", async () => {
      const bucket = await filled(["a", "b", "c"]);
      const list = async (limit: unknown) =>
        keysOf(await bucket.list({ limit: wrong(limit) })).length;
      assert.equal(await list("2"), 2);
      assert.equal(await list(1.9), 1);
      assert.equal(await list(true), 1);
      assert.equal(await list(undefined), 3);
    });

    for (const limit of [0, 1001, -2, null, Number.NaN, Infinity, "x", {}]) {
      test(`limit ${shown(limit)} is 10022`, async () => {
        const bucket = await filled([]);
        await rejects(
          bucket.list({ limit: wrong(limit) }),
          Error,
          "list: MaxKeys params must be positive integer <= 1000. (10022)",
        );
      });
    }

    test("a cursor that no list gave is 10029", async () => {
      const bucket = await filled(["a"]);
      for (const cursor of ["junk", "AAAA", "\0"]) {
        await assert.rejects(bucket.list({ cursor }), /^Error: list: .* \(10029\)$/);
      }
      assert.equal((await bucket.list({ cursor: "" })).objects.length, 1, "empty is none");
    });

    test("without a limit a page has at most 1000", async () => {
      const keys = Array.from({ length: 1_005 }, (_, i) => String(10_000 + i));
      const bucket = await filled(keys);
      const first = await bucket.list();
      assert.equal(first.objects.length, 1_000);
      assert.equal(first.truncated, true);
      const rest = await bucket.list({ cursor: first.cursor! });
      assert.deepEqual([...keysOf(first), ...keysOf(rest)], keys);
    });
  });
}

function groups(filled: Filled): void {
  suite("list({ delimiter })", () => {
    const keys = ["a", "foo", "foo/bar/baz", "foo/bar/qux", "foo/x", "foo0", "g/1"];

    test("groups keys between the prefix and the delimiter, without the delimiter", async () => {
      const bucket = await filled(keys);
      const top = await bucket.list({ delimiter: "/" });
      assert.deepEqual(keysOf(top), ["a", "foo", "foo0"]);
      assert.deepEqual(top.delimitedPrefixes, ["foo", "g"]);
      const inside = await bucket.list({ delimiter: "/", prefix: "foo/" });
      assert.deepEqual(keysOf(inside), ["foo/x"]);
      assert.deepEqual(inside.delimitedPrefixes, ["foo/bar"]);
      const open = await bucket.list({ delimiter: "/", prefix: "fo" });
      assert.deepEqual([keysOf(open), open.delimitedPrefixes], [["foo", "foo0"], ["foo"]]);
    });

    test("takes more than one character; empty is none", async () => {
      const bucket = await filled(["a::b", "a:c", "a::d"]);
      const { delimitedPrefixes, objects } = await bucket.list({ delimiter: "::" });
      assert.deepEqual([delimitedPrefixes, objects.length], [["a"], 1]);
      assert.equal((await bucket.list({ delimiter: "" })).objects.length, 3);
    });

    test("counts a group as one entry, and never splits or repeats it", async () => {
      const bucket = await filled(keys);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await bucket.list({
          limit: 1,
          delimiter: "/",
          ...(cursor !== undefined && { cursor }),
        });
        assert.equal(page.objects.length + page.delimitedPrefixes.length, 1);
        seen.push(...keysOf(page), ...page.delimitedPrefixes.map((prefix) => `${prefix}/`));
        cursor = page.cursor;
      } while (cursor !== undefined);
      assert.deepEqual(seen, ["a", "foo", "foo/", "foo0", "g/"]);
    });

    test("a group is listed while it has keys after startAfter", async () => {
      const bucket = await filled(keys);
      const list = async (startAfter: string) =>
        (await bucket.list({ delimiter: "/", startAfter })).delimitedPrefixes;
      assert.deepEqual(await list("foo/bar/baz"), ["foo", "g"]);
      assert.deepEqual(await list("foo/x"), ["g"]);
    });

    test("scripts may ask for prefixes that keep the delimiter", async () => {
      const bucket = await filled(keys, { ...today, keepsDelimiter: true });
      assert.deepEqual((await bucket.list({ delimiter: "/" })).delimitedPrefixes, ["foo/", "g/"]);
      const inside = await bucket.list({ delimiter: "/", prefix: "foo/" });
      assert.deepEqual(inside.delimitedPrefixes, ["foo/bar/"]);
    });
  });
}

function includes(filled: Filled): void {
  suite("list({ include })", () => {
    const listed = async (bucket: StoreBucket, include?: StoreListOptions["include"]) => {
      const { objects } = await bucket.list(include === undefined ? {} : { include });
      return [objects[0]!.httpMetadata, objects[0]!.customMetadata];
    };

    test("brings the metadata that is named, and no other", async () => {
      const bucket = await filled(["k"]);
      const [http, custom] = [{ contentType: "t" }, { of: "k" }];
      assert.deepEqual(await listed(bucket), [undefined, undefined]);
      assert.deepEqual(await listed(bucket, []), [undefined, undefined]);
      assert.deepEqual(await listed(bucket, ["httpMetadata"]), [http, undefined]);
      assert.deepEqual(await listed(bucket, ["customMetadata"]), [undefined, custom]);
      const both = ["customMetadata", "httpMetadata", "customMetadata"] as const;
      assert.deepEqual(await listed(bucket, [...both]), [http, custom]);
      await bucket.put("k", "");
      assert.deepEqual(await listed(bucket, ["customMetadata", "httpMetadata"]), [{}, {}]);
    });

    test("an object that came without its HTTP metadata cannot write it", async () => {
      const bucket = await filled(["k"]);
      const { objects } = await bucket.list();
      throws(
        () => objects[0]!.writeHttpMetadata(new Headers()),
        TypeError,
        "HTTP metadata unknown for key `k`. Did you forget to add 'httpMetadata' to `include` when listing?",
      );
    });

    test("bounds what a page holds", async () => {
      const bucket = await filled([]);
      const customMetadata = { a: "x".repeat(8_000) };
      const keys = Array.from({ length: 60 }, (_, i) => `k${100 + i}`);
      await Promise.all(keys.map((key) => bucket.put(key, "", { customMetadata })));
      const found: string[] = [];
      let pages = 0;
      let cursor: string | undefined;
      do {
        const page = await bucket.list({
          include: ["customMetadata"],
          ...(cursor !== undefined && { cursor }),
        });
        assert.ok(JSON.stringify(page).length < 1024 * 1024);
        found.push(...keysOf(page));
        cursor = page.cursor;
        pages++;
      } while (cursor !== undefined);
      assert.deepEqual(found, keys);
      assert.ok(pages > 1);
      assert.equal((await bucket.list()).objects.length, 60);
    });

    test("is not heard by scripts of before 2022-08-04: all metadata comes", async () => {
      const bucket = await filled(["k"], { ...today, honorsInclude: false });
      for (const include of [undefined, [], ["httpMetadata"]] as const) {
        const both = [{ contentType: "t" }, { of: "k" }];
        assert.deepEqual(await listed(bucket, include as StoreListOptions["include"]), both);
      }
      await rejects(
        bucket.list({ include: [wrong("foo")] }),
        RangeError,
        "Unsupported include value foo",
      );
    });

    test("scripts since 2025-12-03 see absent fields as undefined ones", async () => {
      const bucket = await filled(["k"], { ...today, showsAbsent: true });
      const page = await bucket.list({ include: ["httpMetadata"] });
      assert.deepEqual(Object.keys(page), ["objects", "truncated", "cursor", "delimitedPrefixes"]);
      assert.deepEqual(Object.keys(page.objects[0]!.httpMetadata!), [
        "contentType",
        "contentLanguage",
        "contentDisposition",
        "contentEncoding",
        "cacheControl",
        "cacheExpiry",
      ]);
      const { range } = (await bucket.head("k"))!;
      assert.deepEqual(Object.keys(range!), ["offset", "length", "suffix"]);
    });
  });
}

function refusals(buckets: Buckets): void {
  suite("wrong arguments of list", () => {
    const struct = (field: string, type: string) =>
      `Incorrect type for the '${field}' field on 'ListOptions': the provided value is not of type '${type}'.`;
    const RANGE = "Value out of range. Must be between -2147483648 and 2147483647 (inclusive).";
    const cases: [options: unknown, type: typeof Error, message: string][] = [
      ...["prefix", "cursor", "delimiter", "startAfter"].flatMap(
        (field): [unknown, typeof Error, string][] => [
          [{ [field]: 5 }, TypeError, struct(field, "string")],
          [{ [field]: null }, TypeError, struct(field, "string")],
        ],
      ),
      [{ limit: 2 ** 31 }, TypeError, RANGE],
      [{ limit: -(2 ** 31) - 1 }, TypeError, RANGE],
      [{ include: "httpMetadata" }, TypeError, struct("include", "Array")],
      [{ include: null }, TypeError, struct("include", "Array")],
      [{ include: new Set() }, TypeError, struct("include", "Array")],
      [
        { include: ["httpMetadata", 5] },
        TypeError,
        "Incorrect type for array element 1: the provided value is not of type 'string'.",
      ],
      [{ include: ["foo"] }, RangeError, "Unsupported include value foo"],
    ];
    test("a lone surrogate in prefix, startAfter or delimiter is 10020", async () => {
      const bucket = await buckets.fresh();
      for (const field of ["prefix", "startAfter", "delimiter"]) {
        await rejects(
          bucket.list({ [field]: "a\ud800" }),
          Error,
          "list: The specified object name is not valid. (10020)",
        );
      }
    });

    for (const [options, type, message] of cases) {
      test(`${JSON.stringify(options)} is refused before anything is sent`, async () => {
        await rejects(buckets.missing.list(wrong(options)), type, message);
      });
    }

    test("a limit that is a BigInt is refused", async () => {
      await rejects(
        buckets.missing.list({ limit: wrong(1n) }),
        TypeError,
        "Cannot convert a BigInt value to a number",
      );
    });
  });
}

function shown(limit: unknown): string {
  return typeof limit === "number" ? String(limit) : JSON.stringify(limit);
}
