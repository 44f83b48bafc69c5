/** What holds for every method: arguments, their conversion, what is thrown and what is rejected. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { lost, rejects, throws, wrong } from "./expect.contract.ts";
import type { Buckets } from "./store-bucket.contract.ts";

const METHODS = [
  "head",
  "get",
  "put",
  "createMultipartUpload",
  "resumeMultipartUpload",
  "delete",
  "list",
] as const;

export function callingRules(buckets: Buckets): void {
  suite("StoreBucket as an object", () => {
    test("has the members of the interface, and a tag", async () => {
      const bucket = await buckets.fresh();
      assert.equal(Object.prototype.toString.call(bucket), "[object StoreBucket]");
      assert.deepEqual(Object.keys(bucket), []);
      assert.equal(JSON.stringify(bucket), "{}");
      const shown: string[] = [];
      for (const name in bucket) shown.push(name);
      assert.deepEqual(shown, METHODS);
      for (const method of METHODS) assert.equal(bucket[method].length, 0, method);
    });

    test("cannot be cloned or made by scripts", async () => {
      const bucket = await buckets.fresh();
      assert.throws(() => structuredClone(bucket), { name: "DataCloneError" });
      const type = bucket.constructor as new () => unknown;
      throws(() => new type(), TypeError, "Illegal constructor");
    });

    test("a method that lost its object throws at once", async () => {
      const bucket = await buckets.fresh();
      for (const method of METHODS) {
        for (const self of [undefined, {}, 5]) {
          throws(
            () => lost(bucket, method).call(self, "k", "v"),
            TypeError,
            /^Illegal invocation: function called with incorrect `this` reference\./,
          );
        }
      }
    });
  });

  suite("arguments of StoreBucket", () => {
    test("a missing argument rejects; only resumeMultipartUpload throws", async () => {
      const bucket = await buckets.fresh();
      for (const method of ["head", "get", "put", "createMultipartUpload"] as const) {
        await rejects(
          lost(bucket, method).call(bucket) as Promise<unknown>,
          TypeError,
          `Failed to execute '${method}' on 'StoreBucket': parameter 1 is not of type 'string'.`,
        );
      }
      await rejects(
        lost(bucket, "delete").call(bucket) as Promise<void>,
        TypeError,
        "Failed to execute 'delete' on 'StoreBucket': parameter 1 is not of type 'string or Array'.",
      );
      for (const [args, parameter] of [
        [[], 1],
        [["k"], 2],
      ] as const) {
        throws(
          () => lost(bucket, "resumeMultipartUpload").apply(bucket, [...args]),
          TypeError,
          `Failed to execute 'resumeMultipartUpload' on 'StoreBucket': parameter ${parameter} is not of type 'string'.`,
        );
      }
    });

    test("keys are converted as JavaScript converts to text", async () => {
      const bucket = await buckets.fresh();
      const cases: [given: unknown, key: string][] = [
        [123, "123"],
        [null, "null"],
        [undefined, "undefined"],
        [["k"], "k"],
        [{}, "[object Object]"],
        [Promise.resolve("k"), "[object Promise]"],
      ];
      for (const [given, key] of cases) {
        assert.equal((await bucket.put(wrong(given), "v")).key, key);
        assert.equal((await bucket.head(wrong(given)))?.key, key);
        assert.equal((await bucket.get(wrong(given)))?.key, key);
        await bucket.delete(wrong(given));
        assert.equal(await bucket.head(key), null);
      }
    });

    test("what a key's conversion throws passes through", async () => {
      const bucket = await buckets.fresh();
      const mine = new RangeError("mine");
      const key = wrong({
        toString() {
          throw mine;
        },
      });
      await assert.rejects(bucket.get(key), mine);
      await rejects(
        bucket.head(wrong(Symbol("k"))),
        TypeError,
        "Cannot convert a Symbol value to a string",
      );
    });

    test("options are any object, null or undefined; anything else is refused", async () => {
      const bucket = await buckets.fresh();
      await bucket.put("k", "v");
      for (const options of [undefined, null, {}, [], () => {}, { unknown: 1 }]) {
        assert.ok(await bucket.get("k", wrong(options)));
        assert.ok(await bucket.put("k", "v", wrong(options)));
        assert.ok(await bucket.list(wrong(options)));
        assert.ok(await bucket.createMultipartUpload("k", wrong(options)));
      }
      const refusals: [call: (options: never) => Promise<unknown>, where: string, what: string][] =
        [
          [(o) => bucket.get("k", o), "'get' on 'StoreBucket': parameter 2", "GetOptions"],
          [(o) => bucket.put("k", "v", o), "'put' on 'StoreBucket': parameter 3", "PutOptions"],
          [(o) => bucket.list(o), "'list' on 'StoreBucket': parameter 1", "ListOptions"],
          [
            (o) => bucket.createMultipartUpload("k", o),
            "'createMultipartUpload' on 'StoreBucket': parameter 2",
            "MultipartOptions",
          ],
        ];
      for (const options of ["x", 1, true]) {
        for (const [call, where, what] of refusals) {
          const message = `Failed to execute ${where} is not of type '${what}'.`;
          await rejects(call(wrong(options)), TypeError, message);
        }
      }
    });

    test("options are read once, in the order of the original", async () => {
      const bucket = await buckets.fresh();
      const orders: [call: (options: never) => Promise<unknown>, order: string][] = [
        [(options) => bucket.get("k", options), "onlyIf range ssecKey"],
        [
          (options) => bucket.put("k", "v", options),
          "onlyIf httpMetadata customMetadata md5 sha1 sha256 sha384 sha512 storageClass ssecKey",
        ],
        [(options) => bucket.list(options), "limit prefix cursor delimiter startAfter include"],
        [
          (options) => bucket.createMultipartUpload("k", options),
          "httpMetadata customMetadata storageClass ssecKey",
        ],
      ];
      for (const [call, order] of orders) assert.equal((await readOrder(call)).join(" "), order);
    });

    test("types of all arguments are checked before what any of them says", async () => {
      const bucket = await buckets.fresh();
      const quoted = { etagMatches: '"x"' };
      await rejects(
        bucket.put("k", "v", wrong({ onlyIf: quoted, md5: 5 })),
        TypeError,
        "Incorrect type for the 'md5' field on 'PutOptions': the provided value is not of type 'BufferSource or string'.",
      );
      await rejects(
        bucket.get("k", wrong({ onlyIf: quoted, range: 5 })),
        TypeError,
        "Incorrect type for the 'range' field on 'GetOptions': the provided value is not of type 'Range or Headers'.",
      );
      await rejects(
        bucket.put("k", wrong(5), wrong({ md5: 5 })),
        TypeError,
        "Failed to execute 'put' on 'StoreBucket': parameter 2 is not of type 'ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob'.",
      );
    });

    test("a key that is none is refused, and nothing is stored", async () => {
      const bucket = await buckets.fresh();
      const put = (ssecKey: unknown) => bucket.put("k", "v", wrong({ ssecKey }));
      await rejects(put(null), Error, "SSE-C Key has invalid format");
      await rejects(put("AB".repeat(32)), Error, "SSE-C Key has invalid format");
      await rejects(put("ab"), Error, "SSE-C Key must be 32 bytes in length");
      await rejects(put(new Uint8Array(31)), Error, "SSE-C Key must be 32 bytes in length");
      assert.equal(await bucket.head("k"), null);
    });
  });

  suite("keys", () => {
    test("of 1024 octets of UTF-8 are the longest; longer ones are 10020 in every method", async () => {
      const bucket = await buckets.fresh();
      const longest = "é".repeat(512);
      assert.equal((await bucket.put(longest, "v")).key, longest);
      const key = `${longest}x`;
      const calls: [action: string, call: () => Promise<unknown>][] = [
        ["head", () => bucket.head(key)],
        ["get", () => bucket.get(key)],
        ["put", () => bucket.put(key, "v")],
        ["delete", () => bucket.delete(key)],
        ["delete", () => bucket.delete([longest, key])],
        ["createMultipartUpload", () => bucket.createMultipartUpload(key)],
        ["uploadPart", () => bucket.resumeMultipartUpload(key, "x").uploadPart(1, "v")],
        ["completeMultipartUpload", () => bucket.resumeMultipartUpload(key, "x").complete([])],
        ["abortMultipartUpload", () => bucket.resumeMultipartUpload(key, "x").abort()],
      ];
      for (const [action, call] of calls) {
        await rejects(call(), Error, `${action}: The specified object name is not valid. (10020)`);
      }
      assert.ok(await bucket.head(longest), "one bad key deletes none");
    });

    test("are kept as they are: empty, with slashes, dots, NUL and spaces", async () => {
      const bucket = await buckets.fresh();
      for (const key of ["", "a/../b", "../x", "/x", "a//b", "nul\0x", " lead", "%2e", "😀é"]) {
        await bucket.put(key, `value of ${key}`);
        const found = await bucket.get(key);
        assert.equal(found?.key, key);
        assert.equal(await found.json().catch(() => "text"), "text");
      }
      assert.equal((await bucket.list()).objects.length, 9);
    });

    test("with a lone surrogate are refused", async () => {
      const bucket = await buckets.fresh();
      const message = "put: The specified object name is not valid. (10020)";
      await rejects(bucket.put("a\ud800", "v"), Error, message);
    });
  });

  suite("a bucket that is not there", () => {
    test("is 10006 in every method, never null", async () => {
      const { missing } = buckets;
      const upload = missing.resumeMultipartUpload("k", "x");
      const calls: [action: string, call: () => Promise<unknown>][] = [
        ["head", () => missing.head("k")],
        ["get", () => missing.get("k")],
        ["put", () => missing.put("k", "v")],
        ["delete", () => missing.delete("k")],
        ["list", () => missing.list()],
        ["createMultipartUpload", () => missing.createMultipartUpload("k")],
        ["uploadPart", () => upload.uploadPart(1, "v")],
        ["completeMultipartUpload", () => upload.complete([])],
        ["abortMultipartUpload", () => upload.abort()],
      ];
      for (const [action, call] of calls) {
        await rejects(call(), Error, `${action}: The specified bucket does not exist. (10006)`);
      }
    });
  });
}

/** The names of the options that a call reads, as it reads them. */
async function readOrder(call: (options: never) => Promise<unknown>): Promise<string[]> {
  const read: string[] = [];
  const options = new Proxy(
    {},
    {
      get(_, name) {
        read.push(String(name));
        return undefined;
      },
    },
  );
  await call(options as never);
  return read;
}
