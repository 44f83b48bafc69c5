/** `ssecKey`: objects that only who has their key can read. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { MIB, octets, rejects } from "./expect.contract.ts";
import type { Buckets } from "./store-bucket.contract.ts";

const KEY = octets(32, 7);
const OTHER_KEY = octets(32, 8);
const KEY_HEX = Buffer.from(KEY).toString("hex");
const KEY_MD5 = createHash("md5").update(KEY).digest("base64");
const REQUIRED = "get: The object is encrypted with a key, which must be given (10029)";
const ANOTHER = "get: The object is encrypted with another key (10003)";

export function encryption(buckets: Buckets): void {
  suite("ssecKey", () => {
    for (const size of [0, 5, 300_000]) {
      test(`an object of ${size} octets is read with its key, as octets or hex, and not without`, async () => {
        const bucket = await buckets.fresh();
        const value = octets(size);
        const put = await bucket.put("k", value, { ssecKey: KEY, customMetadata: { a: "b" } });
        assert.equal(put.ssecKeyMd5, KEY_MD5);
        assert.equal(put.size, size);
        assert.notEqual(put.etag, createHash("md5").update(value).digest("hex"));
        assert.deepEqual(put.checksums.toJSON(), {});
        for (const ssecKey of [KEY, KEY.buffer, KEY_HEX]) {
          const got = await bucket.get("k", { ssecKey });
          assert.equal(got?.ssecKeyMd5, KEY_MD5);
          assert.deepEqual(await got.bytes(), value);
        }
        const head = await bucket.head("k");
        assert.deepEqual([head?.ssecKeyMd5, head?.customMetadata], [KEY_MD5, { a: "b" }]);
        const listed = await bucket.list();
        assert.equal(listed.objects[0]?.ssecKeyMd5, KEY_MD5);
        await rejects(bucket.get("k"), Error, REQUIRED);
        await rejects(bucket.get("k", { ssecKey: OTHER_KEY }), Error, ANOTHER);
      });
    }

    test("a range is read alone", async () => {
      const bucket = await buckets.fresh();
      const value = octets(1000);
      await bucket.put("k", value, { ssecKey: KEY });
      const got = await bucket.get("k", { ssecKey: KEY, range: { offset: 33, length: 500 } });
      assert.deepEqual(await got!.bytes(), value.subarray(33, 533));
    });

    test("a checksum is of the octets that were given, and kept when it was asked for", async () => {
      const bucket = await buckets.fresh();
      const value = octets(100);
      const sha256 = createHash("sha256").update(value).digest("hex");
      const put = await bucket.put("k", value, { ssecKey: KEY, sha256 });
      assert.deepEqual(put.checksums.toJSON(), { sha256 });
      const wrong = bucket.put("k", octets(100, 2), { ssecKey: KEY, sha256 });
      await assert.rejects(wrong, /\(10037\)$/);
    });

    test("a key for an object that needs none is refused", async () => {
      const bucket = await buckets.fresh();
      await bucket.put("k", "v");
      const message = "get: The object is not encrypted with a key (10003)";
      await rejects(bucket.get("k", { ssecKey: KEY }), Error, message);
    });

    test("the parts of an upload need the key that it was begun with", async () => {
      const bucket = await buckets.fresh();
      const upload = await bucket.createMultipartUpload("k", { ssecKey: KEY });
      await assert.rejects(upload.uploadPart(1, "v"), /must be given \(10029\)$/);
      const other = { ssecKey: OTHER_KEY };
      await assert.rejects(upload.uploadPart(1, "v", other), /another key \(10003\)$/);
      const parts = [octets(5 * MIB, 2), octets(70, 3)];
      const uploaded = [];
      for (const [i, part] of parts.entries()) {
        uploaded.push(await upload.uploadPart(i + 1, part, { ssecKey: KEY }));
      }
      const object = await upload.complete(uploaded);
      assert.equal(object.ssecKeyMd5, KEY_MD5);
      assert.match(object.etag, /^[0-9a-f]{32}-2$/);
      await rejects(bucket.get("k"), Error, REQUIRED);
      const range = { offset: 5 * MIB - 13, length: 40 };
      const got = await bucket.get("k", { ssecKey: KEY, range });
      const whole = Buffer.concat(parts);
      assert.deepEqual(
        Buffer.from(await got!.bytes()),
        whole.subarray(range.offset, range.offset + range.length),
      );
    });
  });
}
