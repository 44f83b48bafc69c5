/** head and get: what comes back, which part of it, and how it is read. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { lost, MIB, octets, rejects, throws, wrong } from "./expect.contract.ts";
import type { Buckets } from "./store-bucket.contract.ts";
import type { StoreBucket, StoreObjectBody } from "./types.ts";

const MD5_HELLO = "5d41402abc4b2a76b9719d911017c592";

const FIELDS = [
  "ssecKeyMd5",
  "storageClass",
  "range",
  "customMetadata",
  "httpMetadata",
  "uploaded",
  "checksums",
  "httpEtag",
  "etag",
  "size",
  "version",
  "key",
];

export function reads(buckets: Buckets): void {
  suite("head(key)", () => {
    test("gives null for a key that is not there", async () => {
      const bucket = await buckets.fresh();
      assert.equal(await bucket.head("k"), null);
      await bucket.createMultipartUpload("k");
      assert.equal(await bucket.head("k"), null, "an upload under way is no object");
    });

    test("gives a StoreObject without a body", async () => {
      const bucket = await buckets.fresh();
      const put = await bucket.put("k", "hello", {
        httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(86_400_123) },
        customMetadata: { b: "1", a: "2" },
      });
      const object = (await bucket.head("k"))!;
      assert.equal("body" in object, false);
      const { uploaded, version } = object;
      assert.equal(version, put.version);
      assert.match(version, /^[0-9a-f]{32}$/);
      assert.deepEqual(uploaded, put.uploaded);
      assert.ok(Math.abs(uploaded.getTime() - Date.now()) < 60_000);
      assert.deepEqual(
        { ...object, uploaded: 0, version: 0, checksums: object.checksums.toJSON() },
        {
          ssecKeyMd5: undefined,
          storageClass: "Standard",
          range: { offset: 0, length: 5 },
          customMetadata: { b: "1", a: "2" },
          httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(86_400_123) },
          uploaded: 0,
          checksums: { md5: MD5_HELLO },
          httpEtag: `"${MD5_HELLO}"`,
          etag: MD5_HELLO,
          size: 5,
          version: 0,
          key: "k",
        },
      );
      assert.deepEqual(Object.keys(object.customMetadata!), ["b", "a"], "in their order");
    });
  });

  suite("StoreObject", () => {
    test("has its fields in the original's order, to be read and not written", async () => {
      const bucket = await buckets.fresh();
      const object = await bucket.put("k", "hello");
      assert.equal(Object.prototype.toString.call(object), "[object HeadResult]");
      assert.deepEqual(Object.keys(object), FIELDS);
      assert.deepEqual(Object.keys({ ...object }), FIELDS);
      for (const field of FIELDS) {
        assert.throws(() => ((object as unknown as Record<string, unknown>)[field] = 1), TypeError);
      }
      for (const field of ["checksums", "uploaded", "httpMetadata", "customMetadata"] as const) {
        assert.equal(object[field], object[field]);
      }
      Object.assign(object, { mine: 1 });
      assert.throws(() => structuredClone(object), { name: "DataCloneError" });
    });

    test("becomes JSON with times as text and checksums as hex", async () => {
      const bucket = await buckets.fresh();
      const object = await bucket.put("k", "hello");
      const json = JSON.parse(JSON.stringify(await bucket.get("k"))) as Record<string, unknown>;
      assert.equal(json["uploaded"], object.uploaded.toISOString());
      assert.deepEqual(json["checksums"], { md5: MD5_HELLO });
      assert.equal("ssecKeyMd5" in json || "body" in json, false);
    });

    test("a body's object is one of the other kind, too, not the reverse", async () => {
      const bucket = await buckets.fresh();
      await bucket.put("k", "hello");
      const [head, get] = [(await bucket.head("k"))!, (await bucket.get("k"))!];
      assert.ok(get instanceof (head.constructor as typeof Object));
      assert.ok(!(head instanceof (get.constructor as typeof Object)));
      assert.equal(Object.prototype.toString.call(get), "[object GetResult]");
      assert.deepEqual(Object.keys(get), FIELDS);
    });

    test("writeHttpMetadata(headers) sets what is there and leaves the rest", async () => {
      const bucket = await buckets.fresh();
      await bucket.put("k", "", {
        httpMetadata: {
          contentType: "text/plain",
          contentLanguage: "de",
          contentDisposition: 'attachment; filename="ü日.txt"',
          contentEncoding: "br",
          cacheControl: "no-cache",
          cacheExpiry: new Date(1_234),
        },
      });
      await bucket.put("little", "", { httpMetadata: { cacheControl: "" } });
      const object = (await bucket.head("k"))!;
      const headers = new Headers({ "content-type": "old", "x-mine": "1" });
      assert.equal(object.writeHttpMetadata(headers), undefined);
      const { "content-disposition": disposition, ...others } = Object.fromEntries(headers);
      assert.deepEqual(others, {
        "cache-control": "no-cache",
        "content-encoding": "br",
        "content-language": "de",
        "content-type": "text/plain",
        expires: "Thu, 01 Jan 1970 00:00:01 GMT",
        "x-mine": "1",
      });
      assert.match(Buffer.from(disposition!, "latin1").toString(), /ü日/, "as octets of UTF-8");
      const kept = new Headers({ "content-type": "old", "cache-control": "old" });
      (await bucket.head("little"))!.writeHttpMetadata(kept);
      assert.deepEqual(Object.fromEntries(kept), { "cache-control": "", "content-type": "old" });
    });

    test("writeHttpMetadata throws at once: for what is no Headers, and for what no header can hold", async () => {
      const bucket = await buckets.fresh();
      const stored = await bucket.put("k", "", { httpMetadata: { contentType: "a\nb" } });
      for (const given of [undefined, {}, 5]) {
        throws(
          () => stored.writeHttpMetadata(wrong(given)),
          TypeError,
          "Failed to execute 'writeHttpMetadata' on 'HeadResult': parameter 1 is not of type 'Headers'.",
        );
      }
      throws(() => stored.writeHttpMetadata(new Headers()), TypeError, "Invalid header value.");
      const write = lost(stored, "writeHttpMetadata");
      throws(() => write(new Headers()), TypeError, /^Illegal invocation/);
    });
  });

  suite("get(key)", () => {
    test("gives null for a key that is not there, whatever the options say", async () => {
      const bucket = await buckets.fresh();
      assert.equal(await bucket.get("k"), null);
      const options = { onlyIf: { etagMatches: "x" }, range: { offset: 100 } };
      assert.equal(await bucket.get("k", options), null);
      await rejects(
        bucket.get("k", { onlyIf: { etagMatches: '"x"' } }),
        TypeError,
        'Conditional ETag should not be wrapped in quotes ("x").',
      );
    });

    test("gives octets that are the caller's own, however often they are asked for", async () => {
      const bucket = await buckets.fresh();
      await bucket.put("k", "hello");
      for (let i = 0; i < 4; i++) {
        const found = await (await bucket.get("k"))!.bytes();
        assert.equal(new TextDecoder().decode(found), "hello");
        found.fill(0);
      }
    });

    test("keeps the version that it opened", async () => {
      const bucket = await buckets.fresh();
      for (const length of [100, 3 * MIB]) {
        const old = octets(length);
        await bucket.put("k", old);
        const [overwritten, deleted] = [await bucket.get("k"), await bucket.get("k")];
        await bucket.put("k", "new");
        assert.deepEqual(await overwritten!.bytes(), old);
        await bucket.delete("k");
        assert.deepEqual(await deleted!.bytes(), old);
        assert.equal(await bucket.get("k"), null);
      }
    });
  });

  suite("get(key, { range })", () => {
    const value = "0123456789";
    const cases: [range: unknown, offset: number, length: number][] = [
      [undefined, 0, 10],
      [null, 0, 10],
      [{}, 0, 10],
      [{ offset: undefined }, 0, 10],
      [{ Range: "bytes=0-1" }, 0, 10],
      [{ offset: 3 }, 3, 7],
      [{ offset: 9 }, 9, 1],
      [{ length: 4 }, 0, 4],
      [{ length: 40 }, 0, 10],
      [{ length: Infinity }, 0, 10],
      [{ offset: 2, length: 3 }, 2, 3],
      [{ offset: 8, length: 30 }, 8, 2],
      [{ suffix: 3 }, 7, 3],
      [{ suffix: 30 }, 0, 10],
      [{ suffix: 3, offset: undefined }, 7, 3],
      [{ offset: "2" }, 2, 8],
      [{ offset: true }, 1, 9],
      [{ offset: null }, 0, 10],
    ];
    for (const [range, offset, length] of cases) {
      test(`${show(range)} gives ${length} octets from ${offset}`, async () => {
        const bucket = await buckets.fresh();
        await bucket.put("k", value);
        const object = (await bucket.get("k", { range: wrong(range) }))!;
        assert.deepEqual(object.range, { offset, length });
        assert.equal(await object.text(), value.slice(offset, offset + length));
        assert.equal(object.size, 10);
      });
    }

    const unsatisfiable = [
      { offset: 10 },
      { offset: 11 },
      { offset: 10, length: 1 },
      { length: 0 },
      { offset: 1, length: 0 },
      { suffix: 0 },
      { offset: Infinity },
      { offset: 2 ** 64 },
    ];
    for (const range of unsatisfiable) {
      test(`${show(range)} is 10039`, async () => {
        const bucket = await buckets.fresh();
        await bucket.put("k", value);
        const message = "get: The requested range is not satisfiable (10039)";
        await rejects(bucket.get("k", { range }), Error, message);
      });
    }

    test("any range of an empty object is 10039", async () => {
      const bucket = await buckets.fresh();
      await bucket.put("k", "");
      for (const range of [{ offset: 0 }, { length: 1 }, { suffix: 1 }]) {
        const message = "get: The requested range is not satisfiable (10039)";
        await rejects(bucket.get("k", { range }), Error, message);
      }
    });

    const GREATER = "must be greater than or equal to 0.";
    const INTEGER = "must be an integer, not floating point.";
    const refused: [range: object, type: typeof Error, message: string][] = [
      [{ offset: -1 }, RangeError, `Invalid range. Starting offset (-1) ${GREATER}`],
      [{ offset: 1.5 }, RangeError, `Invalid range. Starting offset (1.5) ${INTEGER}`],
      [{ offset: Number.NaN }, RangeError, `Invalid range. Starting offset (nan) ${GREATER}`],
      [{ length: -1 }, RangeError, `Invalid range. Length (-1) ${GREATER}`],
      [{ length: 1.5 }, RangeError, `Invalid range. Length (1.5) ${INTEGER}`],
      [{ suffix: -1 }, RangeError, `Invalid suffix. Suffix (-1) ${GREATER}`],
      [{ suffix: 1.5 }, RangeError, `Invalid range. Suffix (1.5) ${INTEGER}`],
      [{ suffix: 1, offset: 0 }, TypeError, "Suffix is incompatible with offset."],
      [{ suffix: 1, length: 0 }, TypeError, "Suffix is incompatible with length."],
      [{ offset: -1, suffix: 1 }, RangeError, `Invalid range. Starting offset (-1) ${GREATER}`],
    ];
    for (const [range, type, message] of refused) {
      test(`${show(range)} is refused before anything is sent`, async () => {
        await rejects(buckets.missing.get("k", { range: wrong(range) }), type, message);
      });
    }

    test("a range that is no object is refused", async () => {
      for (const range of ["bytes=0-1", 5, true]) {
        await rejects(
          buckets.missing.get("k", { range: wrong(range) }),
          TypeError,
          "Incorrect type for the 'range' field on 'GetOptions': the provided value is not of type 'Range or Headers'.",
        );
      }
    });

    const headers: [header: string, offset: number, length: number][] = [
      ["bytes=2-4", 2, 3],
      ["bytes=2-", 2, 8],
      ["bytes=-3", 7, 3],
      ["bytes=-30", 0, 10],
      ["bytes=8-90", 8, 2],
      ["bytes=0-99999999999999999999", 0, 10],
      ["BYTES=0-1", 0, 2],
      ["bytes = 1 - 2", 1, 2],
      // What asks for nothing that is there is left aside.
      ["", 0, 10],
      ["bytes=10-", 0, 10],
      ["bytes=99999999999999999999-", 0, 10],
      ["bytes=3-2", 0, 10],
      ["bytes=-0", 0, 10],
      ["bytes=-", 0, 10],
      ["bytes=a-b", 0, 10],
      ["items=0-1", 0, 10],
      ["bytes=0-1,3-4", 0, 10],
    ];
    for (const [header, offset, length] of headers) {
      test(`Headers with Range: ${header || "nothing"} give ${length} octets from ${offset}`, async () => {
        const bucket = await buckets.fresh();
        await bucket.put("k", value);
        const range = new Headers({ Range: header, "If-Range": '"other"' });
        const object = (await bucket.get("k", { range }))!;
        assert.deepEqual(object.range, { offset, length });
        assert.equal(await object.text(), value.slice(offset, offset + length));
      });
    }

    test("Headers with a Range are left aside for an empty object", async () => {
      const bucket = await buckets.fresh();
      await bucket.put("k", "");
      for (const Range of ["bytes=0-1", "bytes=-1"]) {
        const object = (await bucket.get("k", { range: new Headers({ Range }) }))!;
        assert.deepEqual([object.range, await object.text()], [{ offset: 0, length: 0 }, ""]);
      }
    });

    test("ranges of a large object are its octets there", async () => {
      const bucket = await buckets.fresh();
      const whole = octets(3 * MIB + 17);
      await bucket.put("k", whole);
      for (const [offset, length] of [
        [0, 1],
        [MIB - 1, 2],
        [5, 2 * MIB],
        [3 * MIB, 17],
      ] as const) {
        const object = (await bucket.get("k", { range: { offset, length } }))!;
        assert.deepEqual(await object.bytes(), whole.slice(offset, offset + length));
      }
    });
  });

  suite("StoreObjectBody", () => {
    const opened = async (value: string | Uint8Array): Promise<StoreObjectBody> => {
      const bucket: StoreBucket = await buckets.fresh();
      await bucket.put("k", value, { httpMetadata: { contentType: "x/y" } });
      return (await bucket.get("k"))!;
    };
    const USED =
      "Body has already been used. It can only be used once. Use tee() first if you need to read it twice.";

    for (const [size, value] of [
      ["small", octets(1000)],
      ["large", octets(3 * MIB)],
    ] as const) {
      test(`arrayBuffer(), bytes(), blob() and body give a ${size} value`, async () => {
        assert.deepEqual(new Uint8Array(await (await opened(value)).arrayBuffer()), value);
        assert.deepEqual(await (await opened(value)).bytes(), value);
        const blob = await (await opened(value)).blob();
        assert.equal(blob.type, "x/y");
        assert.deepEqual(await blob.bytes(), value);
        const { body } = await opened(value);
        assert.deepEqual(await new Response(body).bytes(), value);
      });

      test(`body of a ${size} value takes a reader with a buffer of its own`, async () => {
        const reader = (await opened(value)).body.getReader({ mode: "byob" });
        const { value: read, done } = await reader.read(new Uint8Array(7));
        assert.equal(done, false);
        assert.deepEqual(read, value.slice(0, read.length));
        await reader.cancel();
      });
    }

    test("a reader with a buffer of its own reads a large value in buffers of any size", async () => {
      const value = octets(3 * MIB + 5);
      for (const size of [MIB, 100_000, 1_000_003]) {
        const reader = (await opened(value)).body.getReader({ mode: "byob" });
        const found: Uint8Array[] = [];
        for (let room = new Uint8Array(size); ;) {
          const { value: read, done } = await reader.read(room);
          if (done) break;
          found.push(read.slice());
          room = new Uint8Array(read.buffer);
        }
        assert.deepEqual(await new Blob(found as Uint8Array<ArrayBuffer>[]).bytes(), value);
      }
    });

    test("a value that was read whole leaves a body that is used", async () => {
      for (const value of [octets(1000), octets(3 * MIB)]) {
        const object = await opened(value);
        await object.arrayBuffer();
        assert.equal(object.bodyUsed, true);
        assert.equal(object.body, object.body);
        await rejects(object.bytes(), TypeError, USED);
      }
    });

    test("text() is UTF-8, json() what JSON.parse makes of it", async () => {
      assert.equal(await (await opened("hé€😀")).text(), "hé€😀");
      assert.equal(await (await opened(Uint8Array.of(0xff, 65))).text(), "\ufffdA");
      assert.deepEqual(await (await opened('{"a":[1]}')).json(), { a: [1] });
      await assert.rejects((await opened("{")).json(), SyntaxError);
      await assert.rejects((await opened("")).json(), SyntaxError);
    });

    test("bodyUsed tells whether the value was consumed", async () => {
      const object = await opened("hello");
      assert.equal(object.bodyUsed, false);
      const reading = object.text();
      assert.equal(object.bodyUsed, true);
      assert.equal(await reading, "hello");
      for (const consume of ["text", "json", "blob", "bytes", "arrayBuffer"] as const) {
        await rejects(object[consume](), TypeError, USED);
      }
    });

    test("body is one stream, and consumers wait for its reader", async () => {
      const object = await opened("hello");
      assert.equal(object.body, object.body);
      const reader = object.body.getReader();
      assert.equal(object.bodyUsed, false, "taking a reader reads nothing");
      await rejects(
        object.text(),
        TypeError,
        "This ReadableStream is currently locked to a reader.",
      );
      reader.releaseLock();
      assert.equal(await object.text(), "hello");
    });

    test("a body that was read from, cancelled or split is used", async () => {
      const read = await opened("hello");
      const reader = read.body.getReader();
      await reader.read();
      reader.releaseLock();
      const cancelled = await opened("hello");
      await cancelled.body.cancel();
      const split = await opened("hello");
      const halves = split.body.tee();
      for (const object of [read, cancelled, split]) {
        assert.equal(object.bodyUsed, true);
        await rejects(object.text(), TypeError, USED);
      }
      const texts = await Promise.all(halves.map((half) => new Response(half).text()));
      assert.deepEqual(texts, ["hello", "hello"]);
    });

    test("of two consumers at once the first succeeds", async () => {
      const object = await opened("hello");
      const [first, second] = await Promise.allSettled([object.text(), object.json()]);
      assert.deepEqual(first, { status: "fulfilled", value: "hello" });
      assert.equal(second.status, "rejected");
    });

    test("an empty object has a body, too", async () => {
      const object = await opened("");
      assert.ok(object.body instanceof ReadableStream);
      assert.equal((await object.arrayBuffer()).byteLength, 0);
    });

    test("a body that is not read to its end frees the store", async () => {
      const bucket = await buckets.fresh();
      await bucket.put("k", octets(4 * MIB));
      for (let i = 0; i < 20; i++) {
        const { body } = (await bucket.get("k"))!;
        const reader = body.getReader();
        await reader.read();
        await reader.cancel();
      }
      await bucket.delete("k");
      assert.equal(await bucket.head("k"), null);
    });

    test("members that lost their object throw at once", async () => {
      const object = await opened("hello");
      for (const method of ["text", "json", "blob", "bytes", "arrayBuffer"]) {
        throws(() => lost(object, method)(), TypeError, /^Illegal invocation/);
      }
    });
  });
}

function show(range: unknown): string {
  return JSON.stringify(range, (_, value: unknown) =>
    typeof value === "number" && !Number.isSafeInteger(value) ? String(value) : value,
  );
}
