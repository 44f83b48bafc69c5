/** Multipart uploads: their states, their parts, and what makes an object of them. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { lost, MIB, octets, rejects, streamOf, throws, wrong } from "./expect.contract.ts";
import type { Buckets } from "./store-bucket.contract.ts";
import type { StoreUploadedPart, StoreValue } from "./types.ts";

const PART = 5 * MIB;
const GONE = "The specified multipart upload does not exist. (10024)";

export function multipart(buckets: Buckets): void {
  creating(buckets);
  uploading(buckets);
  completing(buckets);
  states(buckets);
}

function creating(buckets: Buckets): void {
  suite("createMultipartUpload(key, options)", () => {
    test("gives a StoreMultipartUpload", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      assert.equal(Object.prototype.toString.call(upload), "[object StoreMultipartUpload]");
      assert.deepEqual(Object.keys(upload), ["uploadId", "key"]);
      assert.equal(upload.key, "k");
      assert.ok(typeof upload.uploadId === "string" && upload.uploadId.length > 0);
      for (const field of ["key", "uploadId"] as const) {
        assert.throws(
          () => ((upload as unknown as Record<string, unknown>)[field] = "x"),
          TypeError,
        );
      }
      const another = await bucket.createMultipartUpload("k");
      assert.notEqual(another.uploadId, upload.uploadId, "several may be open");
      assert.throws(() => structuredClone(upload), { name: "DataCloneError" });
    });

    test("its metadata and storage class become the object's", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k", {
        httpMetadata: new Headers({ "Content-Type": "t" }),
        customMetadata: { a: "b" },
        storageClass: "InfrequentAccess",
      });
      const object = await upload.complete([await upload.uploadPart(1, "v")]);
      for (const one of [object, (await bucket.head("k"))!]) {
        assert.deepEqual(one.httpMetadata, { contentType: "t" });
        assert.deepEqual(one.customMetadata, { a: "b" });
        assert.equal(one.storageClass, "InfrequentAccess");
      }
    });

    test("wrong options are refused; conditions and checksums are none of its options", async () => {
      const bucket = await buckets.fresh();
      await rejects(
        bucket.createMultipartUpload("k", wrong({ customMetadata: 5 })),
        TypeError,
        "Incorrect type for the 'customMetadata' field on 'MultipartOptions': the provided value is not of type 'object'.",
      );
      await rejects(
        bucket.createMultipartUpload("k", wrong({ httpMetadata: 5 })),
        TypeError,
        "Incorrect type for the 'httpMetadata' field on 'MultipartOptions': the provided value is not of type 'HttpMetadata or Headers'.",
      );
      assert.ok(await bucket.createMultipartUpload("k", wrong({ md5: 5, onlyIf: 5 })));
      await rejects(
        bucket.createMultipartUpload("k", { customMetadata: { a: "x".repeat(8_192) } }),
        Error,
        "createMultipartUpload: Your metadata headers exceed the maximum allowed metadata size. (10012)",
      );
    });
  });

  suite("resumeMultipartUpload(key, uploadId)", () => {
    test("is synchronous and checks nothing", () => {
      const upload = buckets.missing.resumeMultipartUpload(wrong(5), wrong(null));
      assert.deepEqual([upload.key, upload.uploadId], ["5", "null"]);
    });

    test("goes on with an upload", async () => {
      const bucket = await buckets.fresh();
      const { uploadId } = await bucket.createMultipartUpload("k");
      const part = await bucket.resumeMultipartUpload("k", uploadId).uploadPart(1, "value");
      const object = await bucket.resumeMultipartUpload("k", uploadId).complete([part]);
      assert.equal(object.size, 5);
    });
  });

  test("methods of an upload that lost their object throw at once", () => {
    const upload = buckets.missing.resumeMultipartUpload("k", "x");
    for (const method of ["uploadPart", "complete", "abort"]) {
      throws(() => lost(upload, method)(1, "v"), TypeError, /^Illegal invocation/);
    }
  });
}

function uploading(buckets: Buckets): void {
  const TYPES = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";
  const where = (parameter: number, type: string) =>
    `Failed to execute 'uploadPart' on 'StoreMultipartUpload': parameter ${parameter} is not of type '${type}'.`;

  suite("uploadPart(partNumber, value)", () => {
    test("gives the part's number and the MD5 of its octets", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const etag = createHash("md5").update("value").digest("hex");
      const values: StoreValue[] = [
        "value",
        Buffer.from("value"),
        new Uint8Array(Buffer.from("value")).buffer,
        new Blob(["value"]),
        streamOf(Buffer.from("val"), Buffer.from("ue")),
      ];
      for (const [i, value] of values.entries()) {
        assert.deepEqual(await upload.uploadPart(i + 1, value), { partNumber: i + 1, etag });
      }
    });

    test("numbers are from 1 to 10,000, converted to integers", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      for (const [given, number] of [
        [1, 1],
        [10_000, 10_000],
        ["2", 2],
        [3.9, 3],
        [true, 1],
      ] as const) {
        assert.equal((await upload.uploadPart(wrong(given), "v")).partNumber, number);
      }
      for (const [given, number] of [
        [0, 0],
        [-1, -1],
        [10_001, 10_001],
        [undefined, 0],
        [null, 0],
        [{}, 0],
      ] as const) {
        await rejects(
          upload.uploadPart(wrong(given), "v"),
          TypeError,
          `Part number must be between 1 and 10000 (inclusive). Actual value was: ${number}`,
        );
      }
    });

    test("other values, and none, are refused", async () => {
      const upload = buckets.missing.resumeMultipartUpload("k", "x");
      const part = upload.uploadPart.bind(upload) as (...args: unknown[]) => Promise<unknown>;
      await rejects(part(), TypeError, where(1, "integer"));
      for (const args of [[1], [1, null], [1, undefined], [1, 5], [0, 5]]) {
        await rejects(part(...args), TypeError, where(2, TYPES));
      }
      await rejects(part(0, "v", 5), TypeError, where(3, "UploadPartOptions"));
    });

    test("the same number again replaces the part", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const first = await upload.uploadPart(1, "first");
      const second = await upload.uploadPart(1, "second");
      await rejects(
        upload.complete([first]),
        Error,
        "completeMultipartUpload: One or more of the specified parts could not be found. (10025)",
      );
      await upload.complete([second]);
      assert.equal(await (await bucket.get("k"))!.text(), "second");
    });

    test("a stream that fails rejects with its error and leaves the part as it was", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const part = await upload.uploadPart(1, "first");
      const mine = new RangeError("mine");
      const broken = streamOf(octets(100_000), octets(100_000), mine);
      await assert.rejects(upload.uploadPart(1, broken), (error) => error === mine);
      await upload.complete([part]);
      assert.equal(await (await bucket.get("k"))!.text(), "first");
    });
  });
}

function completing(buckets: Buckets): void {
  suite("complete(uploadedParts)", () => {
    test("makes an object of its parts, in the order of their numbers", async () => {
      const bucket = await buckets.fresh();
      await bucket.put("k", "old", { customMetadata: { old: "yes" } });
      const upload = await bucket.createMultipartUpload("k");
      const values = [octets(PART, 1), octets(PART, 2), octets(1000, 3)];
      const parts: StoreUploadedPart[] = [];
      for (const i of [2, 0, 1]) parts.push(await upload.uploadPart((i + 1) * 3, values[i]!));
      await upload.uploadPart(9_999, "not named, so dropped");
      assert.equal(await (await bucket.get("k"))!.text(), "old", "nothing shows before");
      const inOrder = [parts[1]!, parts[2]!, parts[0]!];
      const object = await upload.complete(inOrder);
      const whole = Buffer.concat(values);
      const md5s = values.map((value) => createHash("md5").update(value).digest());
      const etag = `${createHash("md5").update(Buffer.concat(md5s)).digest("hex")}-3`;
      assert.equal(object.etag, etag);
      assert.equal(object.httpEtag, `"${etag}"`);
      assert.equal(object.size, whole.length);
      assert.equal(object.range, undefined);
      assert.deepEqual(object.checksums.toJSON(), {});
      assert.deepEqual(object.customMetadata, {});
      const found = (await bucket.get("k"))!;
      assert.equal(found.version, object.version);
      assert.ok(whole.equals(await found.bytes()));
      const range = { offset: PART - 5, length: PART + 10 };
      const middle = (await bucket.get("k", { range }))!;
      assert.ok(whole.subarray(PART - 5, 2 * PART + 5).equals(await middle.bytes()));
      const tail = (await bucket.get("k", { range: { suffix: 10 } }))!;
      assert.deepEqual(await tail.bytes(), values[2]!.slice(-10));
    });

    test("extra fields do not matter, numbers and etags are converted", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const { etag } = await upload.uploadPart(1, "v");
      const part = wrong({
        partNumber: "1",
        etag: { toString: () => etag },
        x: 1,
      });
      assert.equal((await upload.complete([part])).size, 1);
    });

    test("of no parts is an empty object", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const object = await upload.complete([]);
      assert.deepEqual([object.size, object.etag], [0, "d41d8cd98f00b204e9800998ecf8427e-0"]);
    });

    test("wrong arguments are refused before anything is sent", async () => {
      const upload = buckets.missing.resumeMultipartUpload("k", "x");
      const complete = upload.complete.bind(upload) as (...args: unknown[]) => Promise<unknown>;
      const notAnArray =
        "Failed to execute 'complete' on 'StoreMultipartUpload': parameter 1 is not of type 'Array'.";
      for (const args of [[], ["x"], [null], [new Set()]]) {
        await rejects(complete(...args), TypeError, notAnArray);
      }
      for (const element of [5, "x", null]) {
        await rejects(
          complete([element]),
          TypeError,
          "Incorrect type for array element 0: the provided value is not of type 'UploadedPart'.",
        );
      }
      for (const [element, number] of [
        [{}, 0],
        [{ partNumber: 10_001, etag: "x" }, 10_001],
      ] as const) {
        await rejects(
          complete([element]),
          TypeError,
          `Part number must be between 1 and 10000 (inclusive). Actual value was: ${number}`,
        );
      }
    });

    test("parts that are not there, or not so, are 10025; the upload stays open", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const part = await upload.uploadPart(1, "v");
      const message =
        "completeMultipartUpload: One or more of the specified parts could not be found. (10025)";
      const { etag } = part;
      for (const wrongPart of [
        { partNumber: 2, etag },
        { partNumber: 1, etag: "0".repeat(32) },
        { partNumber: 1, etag: `"${etag}"` },
      ]) {
        await rejects(upload.complete([wrongPart]), Error, message);
      }
      assert.equal((await upload.complete([part])).size, 1);
    });

    test("a part twice is 10048", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const part = await upload.uploadPart(1, "v");
      await rejects(
        upload.complete([part, part]),
        Error,
        "completeMultipartUpload: There was a problem with the multipart upload. (10048)",
      );
    });

    test("parts below 5 MiB before the last are 10011, unequal ones 10048", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const small = await upload.uploadPart(1, octets(PART - 1));
      const last = await upload.uploadPart(2, "v");
      await rejects(
        upload.complete([small, last]),
        Error,
        "completeMultipartUpload: Your proposed upload is smaller than the minimum allowed object size. (10011)",
      );
      const uneven =
        "completeMultipartUpload: All non-trailing parts must have the same length. (10048)";
      const first = await upload.uploadPart(1, octets(PART));
      const larger = await upload.uploadPart(3, octets(PART + 1));
      await rejects(upload.complete([first, larger]), Error, uneven);
      await rejects(
        upload.complete([first, larger, await upload.uploadPart(4, "v")]),
        Error,
        uneven,
      );
      assert.equal(await bucket.head("k"), null);
      assert.equal((await upload.complete([first, last])).size, PART + 1);
    });
  });
}

function states(buckets: Buckets): void {
  suite("the states of an upload", () => {
    test("abort() ends it: parts and complete are 10024, abort again resolves", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const part = await upload.uploadPart(1, "v");
      assert.equal(await upload.abort(), undefined);
      await rejects(upload.uploadPart(1, "v"), Error, `uploadPart: ${GONE}`);
      await rejects(upload.complete([part]), Error, `completeMultipartUpload: ${GONE}`);
      assert.equal(await upload.abort(), undefined);
      assert.equal(await bucket.head("k"), null);
    });

    test("completed it takes no more: parts and complete are 10024, abort leaves the object", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const part = await upload.uploadPart(1, "v");
      await upload.complete([part]);
      await rejects(upload.uploadPart(1, "v"), Error, `uploadPart: ${GONE}`);
      await rejects(upload.complete([part]), Error, `completeMultipartUpload: ${GONE}`);
      assert.equal(await upload.abort(), undefined);
      assert.equal(await (await bucket.get("k"))!.text(), "v");
    });

    test("one that never was, or is another key's, is 10024", async () => {
      const bucket = await buckets.fresh();
      const { uploadId } = await bucket.createMultipartUpload("k");
      for (const upload of [
        bucket.resumeMultipartUpload("k", "junk"),
        bucket.resumeMultipartUpload("other", uploadId),
      ]) {
        await rejects(upload.uploadPart(1, "v"), Error, `uploadPart: ${GONE}`);
        const part = { partNumber: 1, etag: "x" };
        await rejects(upload.complete([part]), Error, `completeMultipartUpload: ${GONE}`);
        await rejects(upload.abort(), Error, `abortMultipartUpload: ${GONE}`);
      }
    });

    test("a put of the key while it is open changes nothing of it", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k");
      const part = await upload.uploadPart(1, "from the upload");
      await bucket.put("k", "put");
      assert.equal(await (await bucket.get("k"))!.text(), "put");
      await upload.complete([part]);
      assert.equal(await (await bucket.get("k"))!.text(), "from the upload");
    });
  });
}
