/** put and delete: values, metadata, checksums, and what is left when something is wrong. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { lost, MIB, octets, rejects, streamOf, wrong } from "./expect.contract.ts";
import type { Buckets } from "./store-bucket.contract.ts";
import type { StoreHTTPMetadata, StoreValue } from "./types.ts";

const EMPTY_MD5 = "d41d8cd98f00b204e9800998ecf8427e";
const HELLO = "hello";
const ALGORITHMS = [
  ["md5", "MD5", 16],
  ["sha1", "SHA-1", 20],
  ["sha256", "SHA-256", 32],
  ["sha384", "SHA-384", 48],
  ["sha512", "SHA-512", 64],
] as const;

export function writes(buckets: Buckets): void {
  values(buckets);
  metadata(buckets);
  checksums(buckets);
  deletes(buckets);
}

function values(buckets: Buckets): void {
  const view = Uint8Array.of(0, 1, 2, 3, 4, 5);
  const shared = new Uint8Array(new SharedArrayBuffer(3)).fill(7);
  const kinds: [kind: string, value: () => StoreValue | null | undefined, stored: Uint8Array][] = [
    ["a string", () => "hé€😀", Buffer.from("hé€😀")],
    ["a string with lone surrogates", () => "a\ud800b", Buffer.from("61eda08062", "hex")],
    ["an empty string", () => "", Buffer.alloc(0)],
    ["an ArrayBuffer", () => view.slice().buffer, view],
    ["a view of a part of a buffer", () => view.subarray(2, 4), Uint8Array.of(2, 3)],
    ["a Uint16Array", () => new Uint16Array([1, 2]), Uint8Array.of(1, 0, 2, 0)],
    ["a DataView", () => new DataView(view.buffer, 1, 3), Uint8Array.of(1, 2, 3)],
    ["shared memory", () => wrong(shared.buffer), Uint8Array.of(7, 7, 7)],
    ["a Blob", () => new Blob(["ab", "c"], { type: "x/y" }), Buffer.from("abc")],
    ["null", () => null, Buffer.alloc(0)],
    ["undefined", () => undefined, Buffer.alloc(0)],
    ["a Blob's stream", () => new Blob(["abc"]).stream(), Buffer.from("abc")],
    ["a response's body", () => new Response("abc").body!, Buffer.from("abc")],
    ["a stream of unknown length", () => streamOf(view.subarray(0, 2), view.slice(2)), view],
    [
      "a stream of other views and buffers",
      () => streamOf(new Uint16Array([1]), Uint8Array.of(9).buffer),
      Uint8Array.of(1, 0, 9),
    ],
    ["a stream of nothing", () => streamOf(), Buffer.alloc(0)],
  ];

  suite("put(key, value)", () => {
    for (const [kind, value, stored] of kinds) {
      test(`stores ${kind}`, async () => {
        const bucket = await buckets.fresh();
        const object = await bucket.put("k", value() as StoreValue);
        assert.equal(object.size, stored.length);
        assert.equal(object.etag, createHash("md5").update(stored).digest("hex"));
        assert.deepEqual(object.httpMetadata, {}, "nothing is guessed");
        assert.deepEqual(await (await bucket.get("k"))!.bytes(), new Uint8Array(stored));
      });
    }

    test("gives the object as it was stored, with a version of its own", async () => {
      const bucket = await buckets.fresh();
      const first = await bucket.put("k", HELLO, { customMetadata: { a: "1" } });
      assert.equal("body" in first, false);
      assert.equal(first.range, undefined);
      const second = await bucket.put("k", HELLO);
      assert.notEqual(second.version, first.version);
      assert.deepEqual((await bucket.head("k"))!.customMetadata, {}, "nothing is merged");
      assert.equal((await bucket.put("empty", null)).etag, EMPTY_MD5);
    });

    const others = [5, true, {}, [1], new Date(), wrong(new String("x")), new Response("x")];
    for (const value of [...others, new URLSearchParams("a=b"), new FormData(), Symbol("x")]) {
      test(`refuses ${Object.prototype.toString.call(value)}`, async () => {
        await rejects(
          buckets.missing.put("k", wrong(value)),
          TypeError,
          "Failed to execute 'put' on 'StoreBucket': parameter 2 is not of type 'ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob'.",
        );
      });
    }

    test("refuses to do without a value", async () => {
      const { missing } = buckets;
      await rejects(
        lost(missing, "put").call(missing, "k") as Promise<unknown>,
        TypeError,
        "Failed to execute 'put' on 'StoreBucket': parameter 2 is not of type 'ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob'.",
      );
    });

    test("takes what the octets are when it is called", async () => {
      const bucket = await buckets.fresh();
      for (const length of [10, 2 * MIB]) {
        const value = octets(length);
        const before = value.slice();
        const storing = bucket.put("k", value);
        value.fill(0);
        await storing;
        assert.deepEqual(await (await bucket.get("k"))!.bytes(), before);
      }
    });

    test("leaves the caller's buffers as they are, and takes one again and again", async () => {
      const bucket = await buckets.fresh();
      const chunk = octets(256 * 1024);
      const before = chunk.slice();
      const times = 12;
      await bucket.put("k", streamOf(...Array.from({ length: times }, () => chunk)));
      await bucket.put("other", chunk.buffer);
      assert.deepEqual(chunk, before);
      const found = await (await bucket.get("k"))!.bytes();
      assert.equal(found.length, times * chunk.length);
      for (let i = 0; i < times; i++) {
        const part = found.subarray(i * chunk.length, (i + 1) * chunk.length);
        assert.equal(Buffer.compare(part, before), 0);
      }
    });

    test("stores a body that another get gave", async () => {
      const bucket = await buckets.fresh();
      const value = octets(3 * MIB);
      await bucket.put("from", value);
      await bucket.put("whole", (await bucket.get("from"))!.body);
      assert.deepEqual(await (await bucket.get("whole"))!.bytes(), value);
      const part = await bucket.get("from", { range: { offset: 5, length: 2 * MIB } });
      assert.equal((await bucket.put("part", part!.body)).size, 2 * MIB);
    });

    test("refuses a stream that is locked or was read from", async () => {
      const bucket = await buckets.fresh();
      const message = "The ReadableStream has been locked to a reader.";
      const locked = streamOf(view);
      locked.getReader();
      await rejects(bucket.put("k", locked), TypeError, message);
      const read = streamOf(view, view);
      const reader = read.getReader();
      await reader.read();
      reader.releaseLock();
      await rejects(bucket.put("k", read), TypeError, message);
      const over = new Response("x");
      const { body } = over;
      await over.text();
      await rejects(bucket.put("k", body), TypeError, message);
      assert.equal(await bucket.head("k"), null);
    });

    for (const [when, before] of [
      ["at once", []],
      ["after some octets", [octets(100)]],
      ["after many octets", Array.from({ length: 40 }, (_, i) => octets(64 * 1024, i))],
    ] as const) {
      test(`a stream that fails ${when} rejects with its error and leaves the old object`, async () => {
        const bucket = await buckets.fresh();
        const old = await bucket.put("k", HELLO);
        const mine = new RangeError("mine");
        await assert.rejects(bucket.put("k", streamOf(...before, mine)), (error) => error === mine);
        assert.equal((await bucket.head("k"))!.version, old.version);
        await assert.rejects(
          bucket.put("other", streamOf(...before, mine)),
          (error) => error === mine,
        );
        assert.equal(await bucket.head("other"), null);
      });
    }

    test("a stream with a chunk that is no octets rejects and stores nothing", async () => {
      const bucket = await buckets.fresh();
      await assert.rejects(bucket.put("k", streamOf(view, "text")), TypeError);
      assert.equal(await bucket.head("k"), null);
    });

    test("a wrong option cancels the stream; a wrong type of option leaves it", async () => {
      const bucket = await buckets.fresh();
      let reason: unknown;
      const cancelled = new ReadableStream<Uint8Array>({ cancel: (why) => void (reason = why) });
      await assert.rejects(bucket.put("k", cancelled, { md5: "junk" }), TypeError);
      assert.equal(
        (reason as Error).message,
        "Stream cancelled because the associated put operation encountered an error.",
      );
      const left = streamOf(view);
      await assert.rejects(bucket.put("k", left, wrong({ md5: 5 })), TypeError);
      assert.deepEqual((await left.getReader().read()).value, view);
    });

    test("a store that refuses lets go of the stream", async () => {
      const bucket = await buckets.fresh();
      const left = Promise.withResolvers<void>();
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(octets(64 * 1024)),
        cancel: () => left.resolve(),
      });
      await rejects(
        bucket.put("x".repeat(1025), endless),
        Error,
        "put: The specified object name is not valid. (10020)",
      );
      await left.promise;
    });
  });
}

function metadata(buckets: Buckets): void {
  suite("put(key, value, { httpMetadata })", () => {
    const stored: [given: unknown, kept: StoreHTTPMetadata][] = [
      [undefined, {}],
      [null, {}],
      [{}, {}],
      [{ unknown: "x" }, {}],
      [
        { contentType: "a", contentLanguage: "b", contentDisposition: "c" },
        { contentType: "a", contentLanguage: "b", contentDisposition: "c" },
      ],
      [
        { contentEncoding: "d", cacheControl: "e", cacheExpiry: new Date(1_234) },
        { contentEncoding: "d", cacheControl: "e", cacheExpiry: new Date(1_234) },
      ],
      [
        { contentType: 5, contentLanguage: null, cacheControl: "" },
        { contentType: "5", contentLanguage: "null", cacheControl: "" },
      ],
      [{ cacheExpiry: 5_000 }, { cacheExpiry: new Date(5_000) }],
      [
        new Headers({
          "Content-Type": "a",
          "Content-Language": "b",
          "Content-Disposition": "c",
          "Content-Encoding": "d",
          "Cache-Control": "e",
          Expires: "Thu, 01 Jan 1970 00:00:10 GMT",
          "X-Other": "x",
        }),
        {
          contentType: "a",
          contentLanguage: "b",
          contentDisposition: "c",
          contentEncoding: "d",
          cacheControl: "e",
          cacheExpiry: new Date(10_000),
        },
      ],
      [new Headers({ Expires: "junk" }), { cacheExpiry: new Date(0) }],
    ];
    for (const [given, kept] of stored) {
      test(`${shown(given)} keeps ${JSON.stringify(kept)}`, async () => {
        const bucket = await buckets.fresh();
        const httpMetadata = wrong(given);
        assert.deepEqual((await bucket.put("k", "", { httpMetadata })).httpMetadata, kept);
        assert.deepEqual((await bucket.head("k"))!.httpMetadata, kept);
        assert.deepEqual((await bucket.get("k"))!.httpMetadata, kept);
      });
    }

    test("what is of another type is refused", async () => {
      const put = (httpMetadata: unknown) =>
        buckets.missing.put("k", "", { httpMetadata: wrong(httpMetadata) });
      await rejects(
        put("x"),
        TypeError,
        "Incorrect type for the 'httpMetadata' field on 'PutOptions': the provided value is not of type 'HttpMetadata or Headers'.",
      );
      for (const cacheExpiry of ["2020", null]) {
        await rejects(
          put({ cacheExpiry }),
          TypeError,
          "Incorrect type for the 'cacheExpiry' field on 'HttpMetadata': the provided value is not of type 'date'.",
        );
      }
    });
  });

  suite("put(key, value, { customMetadata })", () => {
    const stored: [given: unknown, kept: Record<string, string>][] = [
      [undefined, {}],
      [
        { b: "1", a: "2", "": "empty", é: "日本\0" },
        { b: "1", a: "2", "": "empty", é: "日本\0" },
      ],
      [
        { a: 5, b: null, c: undefined, d: {} },
        { a: "5", b: "null", c: "undefined", d: "[object Object]" },
      ],
      [new Map([["a", "b"]]), {}],
      [new Headers({ a: "b" }), {}],
      [Object.create({ inherited: "x" }), {}],
    ];
    for (const [given, kept] of stored) {
      test(`${shown(given)} keeps ${JSON.stringify(kept)}`, async () => {
        const bucket = await buckets.fresh();
        const customMetadata = wrong(given);
        assert.deepEqual((await bucket.put("k", "", { customMetadata })).customMetadata, kept);
        const found = (await bucket.head("k"))!.customMetadata!;
        assert.deepEqual(found, kept);
        assert.deepEqual(Object.keys(found), Object.keys(kept));
      });
    }

    test("a name that objects inherit is one like any other", async () => {
      const bucket = await buckets.fresh();
      const customMetadata = JSON.parse('{"__proto__":"x","constructor":"y"}') as never;
      await bucket.put("k", "", { customMetadata });
      const found = Object.entries((await bucket.head("k"))!.customMetadata!);
      assert.deepEqual(found, [
        ["__proto__", "x"],
        ["constructor", "y"],
      ]);
    });

    for (const given of ["x", null, ["x"], 5]) {
      test(`${JSON.stringify(given)} is refused`, async () => {
        const customMetadata = wrong(given);
        await rejects(
          buckets.missing.put("k", "", { customMetadata }),
          TypeError,
          "Incorrect type for the 'customMetadata' field on 'PutOptions': the provided value is not of type 'object'.",
        );
      });
    }

    test("of 8192 is the most; more is 10012 and stores nothing", async () => {
      const bucket = await buckets.fresh();
      const most = { a: "x".repeat(8_191) };
      assert.ok(await bucket.put("k", "", { customMetadata: most }));
      const message =
        "put: Your metadata headers exceed the maximum allowed metadata size. (10012)";
      const more = { a: "x".repeat(8_192) };
      await rejects(bucket.put("other", "", { customMetadata: more }), Error, message);
      const wide = { a: "日".repeat(4_096) };
      await rejects(bucket.put("other", "", { customMetadata: wide }), Error, message);
      assert.equal(await bucket.head("other"), null);
    });
  });

  suite("put(key, value, { storageClass })", () => {
    test("is kept and shown; absent it is the bucket's", async () => {
      const bucket = await buckets.fresh();
      const options = { storageClass: "InfrequentAccess" } as const;
      assert.equal((await bucket.put("k", "", options)).storageClass, "InfrequentAccess");
      assert.equal((await bucket.head("k"))!.storageClass, "InfrequentAccess");
      assert.equal((await bucket.put("k", "")).storageClass, "Standard");
    });

    test("another one is 10029 and stores nothing", async () => {
      const bucket = await buckets.fresh();
      for (const given of ["standard", "", null]) {
        const storageClass = wrong(given);
        await assert.rejects(bucket.put("k", "", { storageClass }), /^Error: put: .* \(10029\)$/);
      }
      assert.equal(await bucket.head("k"), null);
    });
  });
}

function checksums(buckets: Buckets): void {
  suite("put(key, value, { md5 | sha1 | sha256 | sha384 | sha512 })", () => {
    for (const [algorithm, name, length] of ALGORITHMS) {
      const hex = createHash(algorithm).update(HELLO).digest("hex");
      const md5 = createHash("md5").update(HELLO).digest("hex");

      test(`${algorithm} that is right, as hex or octets, is kept`, async () => {
        const bucket = await buckets.fresh();
        const bytes = new Uint8Array(Buffer.from(hex, "hex"));
        const forms = [hex, hex.toUpperCase(), bytes, bytes.buffer, new DataView(bytes.buffer)];
        for (const given of forms) {
          const object = await bucket.put("k", HELLO, { [algorithm]: given });
          assert.deepEqual(object.checksums[algorithm], bytes.buffer);
          const found = (await bucket.head("k"))!.checksums;
          assert.deepEqual(found[algorithm], bytes.buffer);
          assert.deepEqual(found.toJSON(), { md5, [algorithm]: hex });
          assert.deepEqual(Object.keys(found).sort(), ALGORITHMS.map(([one]) => one).sort());
        }
      });

      test(`${algorithm} that is wrong is 10037 and stores nothing`, async () => {
        const bucket = await buckets.fresh();
        for (const value of [HELLO, octets(2 * MIB), streamOf(Buffer.from(HELLO))]) {
          const bytes =
            typeof value === "string" || value instanceof ReadableStream ? HELLO : value;
          const actual = createHash(algorithm).update(bytes).digest("hex");
          const given = "AB".repeat(length);
          await rejects(
            bucket.put("k", value, { [algorithm]: given }),
            Error,
            `put: The ${name} checksum you specified did not match what we received.\nYou provided a ${name} checksum with value: ${given.toLowerCase()}\nActual ${name} was: ${actual} (10037)`,
          );
        }
        assert.equal(await bucket.head("k"), null);
      });

      test(`${algorithm} of another length or alphabet is refused`, async () => {
        const put = (given: unknown) => buckets.missing.put("k", HELLO, { [algorithm]: given });
        await rejects(put("ab"), TypeError, `${name} is ${length * 2} hex characters, not 2`);
        await rejects(put(new Uint8Array(3)), TypeError, `${name} is ${length} bytes, not 3`);
        await rejects(
          put("z".repeat(length * 2)),
          TypeError,
          `Provided ${name} wasn't a valid hex string`,
        );
        for (const given of [5, null, {}, new String(hex), new SharedArrayBuffer(length)]) {
          await rejects(
            put(given),
            TypeError,
            `Incorrect type for the '${algorithm}' field on 'PutOptions': the provided value is not of type 'BufferSource or string'.`,
          );
        }
      });
    }

    test("two of them are refused; a bad first one is told of before", async () => {
      const { missing } = buckets;
      const md5 = createHash("md5").update(HELLO).digest("hex");
      await rejects(
        missing.put("k", HELLO, { md5, sha1: "ab" }),
        TypeError,
        "You cannot specify multiple hashing algorithms.",
      );
      await rejects(
        missing.put("k", HELLO, { md5: "ab", sha1: "ab" }),
        TypeError,
        "MD5 is 32 hex characters, not 2",
      );
    });
  });
}

function deletes(buckets: Buckets): void {
  suite("delete(key | keys)", () => {
    test("one key, or several; what is not there is no fault", async () => {
      const bucket = await buckets.fresh();
      for (const key of ["a", "b", "c", "5"]) await bucket.put(key, "v");
      assert.equal(await bucket.delete("a"), undefined);
      assert.equal(await bucket.delete("a"), undefined);
      assert.equal(await bucket.delete(["b", "none", "b", wrong(5)]), undefined);
      assert.deepEqual(
        (await bucket.list()).objects.map(({ key }) => key),
        ["c"],
      );
    });

    test("no keys and more than 1000 are 10027", async () => {
      const bucket = await buckets.fresh();
      const message =
        "delete: The number of keys in the request must be between 1 and 1000 inclusive. (10027)";
      await rejects(bucket.delete([]), Error, message);
      const keys = Array.from({ length: 1_001 }, (_, i) => `k${i}`);
      await bucket.put("k0", "v");
      await rejects(bucket.delete(keys), Error, message);
      assert.ok(await bucket.head("k0"));
      await bucket.delete(keys.slice(1));
      await bucket.delete(keys.slice(0, 1_000));
      assert.equal(await bucket.head("k0"), null);
    });

    test("leaves uploads of the key alone", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const part = await upload.uploadPart(1, "v");
      await bucket.put("k", "other");
      await bucket.delete("k");
      assert.equal((await upload.complete([part])).size, 1);
    });
  });
}

function shown(value: unknown): string {
  if (value instanceof Headers) return `Headers ${JSON.stringify(Object.fromEntries(value))}`;
  if (value instanceof Map) return "a Map";
  return JSON.stringify(value) ?? "undefined";
}
