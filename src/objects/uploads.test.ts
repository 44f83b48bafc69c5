/** Multipart uploads, on both engines. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, test } from "node:test";
import type { BlobDriver } from "./driver.ts";
import type { Bucket } from "./model.ts";
import type { UploadedPart } from "./upload-model.ts";
import { ObjectStore } from "./object-store.ts";
import {
  ACCOUNT,
  blobIds,
  forgetfulDriver,
  inPieces,
  is,
  octets,
  onBothEngines,
  smallLimits,
  textOf,
} from "./store.contract.ts";

const md5 = (data: string | Uint8Array) => createHash("md5").update(data).digest("hex");
const EVEN = { evenParts: true };
const ONCE = { ...EVEN, isRepeatable: false };
const PART = "a part of octets";
const HOUR_MS = 3_600_000;

onBothEngines("uploads", (db) => {
  let blobs: BlobDriver;
  let store: ObjectStore;
  let bucket: Bucket;
  let clock = 1_700_000_000_000;
  const now = () => clock++;

  before(async () => {
    blobs = forgetfulDriver(now);
    store = new ObjectStore({ db: db(), blobs, now, limits: smallLimits });
    bucket = await store.createBucket(ACCOUNT, "uploads");
  });

  async function begun(key: string, parts: readonly string[]) {
    const { uploadId } = await store.createUpload(bucket, key);
    const uploaded: UploadedPart[] = [];
    for (const [i, part] of parts.entries()) {
      uploaded.push(await store.uploadPart(bucket, key, uploadId, i + 1, octets(part)));
    }
    return { uploadId, uploaded };
  }

  test("an upload becomes an object of its parts, with the metadata that it was begun with", async () => {
    const options = {
      http: { contentType: "a/b" },
      custom: { c: "d" },
      storageClass: "InfrequentAccess",
    } as const;
    const { uploadId } = await store.createUpload(bucket, "whole", options);
    const parts = ["first part!!", "second part!", "rest"];
    const uploaded = [];
    for (const [i, part] of parts.entries()) {
      const put = await store.uploadPart(bucket, "whole", uploadId, i + 1, inPieces(part));
      assert.deepEqual(put, { partNumber: i + 1, etag: md5(part), checksums: {} });
      uploaded.push(put);
    }
    assert.equal(await store.head(bucket, "whole"), null);
    assert.deepEqual((await store.list(bucket)).objects, []);
    const before = clock;
    const object = await store.completeUpload(bucket, "whole", uploadId, uploaded, EVEN);
    assert.ok(object !== null);
    const digests = parts.map((part) => createHash("md5").update(part).digest());
    assert.equal(object.etag, `${md5(Buffer.concat(digests))}-3`);
    assert.equal(object.size, parts.join("").length);
    assert.ok(object.uploadedAt >= before);
    assert.deepEqual(object.checksums, {});
    const { http, custom, storageClass } = object;
    assert.deepEqual({ http, custom, storageClass }, options);
    assert.deepEqual(await store.head(bucket, "whole"), object);
    assert.deepEqual((await store.list(bucket)).objects, [object]);
    assert.equal(await textOf(await store.get(bucket, "whole")), parts.join(""));
  });

  test("any range of it is what the parts have there", async () => {
    const parts = [...Array.from({ length: 9 }, (_, i) => `part ${i} of ten`), "end"];
    const { uploadId, uploaded } = await begun("ranges", parts);
    await store.completeUpload(bucket, "ranges", uploadId, uploaded, EVEN);
    const whole = parts.join("");
    for (let offset = 0; offset < whole.length; offset += 5) {
      for (const length of [1, 12, 13, 40, 1000]) {
        const got = await store.get(bucket, "ranges", { range: { offset, length } });
        assert.equal(await textOf(got), whole.slice(offset, offset + length));
      }
    }
    const past = { range: { offset: whole.length } };
    await assert.rejects(store.get(bucket, "ranges", past), is("bad-range"));
  });

  test("an object of more parts than are read at once reads whole", async () => {
    const parts = Array.from({ length: 150 }, (_, i) => `part number ${1000 + i}`);
    const { uploadId, uploaded } = await begun("many", parts);
    await store.completeUpload(bucket, "many", uploadId, uploaded, EVEN);
    assert.equal(await textOf(await store.get(bucket, "many")), parts.join(""));
    const range = { offset: 16 * 100, length: 16 * 3 };
    const got = await store.get(bucket, "many", { range });
    assert.equal(await textOf(got), parts.slice(100, 103).join(""));
  });

  test("an upload without parts becomes an empty object", async () => {
    const { uploadId } = await begun("empty", [PART]);
    const object = await store.completeUpload(bucket, "empty", uploadId, [], EVEN);
    assert.ok(object !== null);
    assert.equal(object.etag, "d41d8cd98f00b204e9800998ecf8427e-0");
    assert.equal(object.size, 0);
    assert.equal(await textOf(await store.get(bucket, "empty")), "");
  });

  test("a part of the same number replaces the one before, and only its etag completes", async () => {
    const { uploadId, uploaded } = await begun("again", [PART]);
    const second = await store.uploadPart(bucket, "again", uploadId, 1, octets("another part"));
    const complete = (parts: UploadedPart[]) =>
      store.completeUpload(bucket, "again", uploadId, parts, EVEN);
    await assert.rejects(complete(uploaded), is("no-such-part"));
    await complete([second]);
    assert.equal(await textOf(await store.get(bucket, "again")), "another part");
  });

  test("parts need not come in order, may leave gaps, and those not named are dropped", async () => {
    const { uploadId } = await store.createUpload(bucket, "gaps");
    const put = (number: number) =>
      store.uploadPart(bucket, "gaps", uploadId, number, octets(`part ${number + 10_000}`));
    const parts = [await put(10_000), await put(7), await put(3), await put(2), await put(9)];
    const chosen = [parts[0]!, parts[2]!, parts[4]!];
    await store.completeUpload(bucket, "gaps", uploadId, chosen, EVEN);
    assert.equal(await textOf(await store.get(bucket, "gaps")), "part 10003part 10009part 20000");
    await store.delete(bucket, ["gaps"]);
  });

  test("a complete that is refused leaves the upload open", async () => {
    const { uploadId, uploaded } = await begun("refused", ["small", PART]);
    const complete = (parts: UploadedPart[], key = "refused", id = uploadId) =>
      store.completeUpload(bucket, key, id, parts, EVEN);
    const [small, part] = uploaded as [UploadedPart, UploadedPart];
    await assert.rejects(complete([small, part], "refused", "f".repeat(32)), is("no-such-upload"));
    await assert.rejects(complete([small, part], "other key"), is("no-such-upload"));
    await assert.rejects(complete([small, small]), is("duplicate-part"));
    await assert.rejects(complete([small, { ...part, partNumber: 3 }]), is("no-such-part"));
    await assert.rejects(
      complete([small, { ...part, etag: `"${part.etag}"` }]),
      is("no-such-part"),
    );
    await assert.rejects(complete([small, part]), is("part-too-small"));
    await assert.rejects(complete([part, small]), is("uneven-parts"));
    await complete([part]);
    assert.equal(await textOf(await store.get(bucket, "refused")), PART);
  });

  test("parts have numbers from 1 to 10000", async () => {
    const { uploadId } = await begun("numbers", []);
    for (const number of [0, -1, 10_001, 1.5, NaN]) {
      const put = store.uploadPart(bucket, "numbers", uploadId, number, octets(PART));
      await assert.rejects(put, is("no-such-part"));
    }
  });

  test("a part that fails, or is not what it should be, leaves the one before", async () => {
    const { uploadId, uploaded } = await begun("kept", [PART]);
    const before = await blobIds(blobs);
    const failure = new Error("cut");
    const failing = (async function* () {
      yield octets("more than a row holds");
      throw failure;
    })();
    const put = (body: Parameters<ObjectStore["uploadPart"]>[4], options = {}) =>
      store.uploadPart(bucket, "kept", uploadId, 1, body, options);
    await assert.rejects(put(failing), (error) => error === failure);
    const checksums = [{ algorithm: "md5", value: md5("x") }];
    await assert.rejects(put(octets(`not ${PART}`), { checksums }), is("bad-digest"));
    await assert.rejects(put(octets(`not ${PART}`), { size: 3 }), is("incomplete-body"));
    assert.deepEqual(await blobIds(blobs), before);
    await store.completeUpload(bucket, "kept", uploadId, uploaded, EVEN);
    assert.equal(await textOf(await store.get(bucket, "kept")), PART);
  });

  test("what has ended takes no parts and cannot be completed, but may be aborted again", async () => {
    const done = await begun("ended", [PART]);
    await store.completeUpload(bucket, "ended", done.uploadId, done.uploaded, EVEN);
    const aborted = await begun("ended", [PART]);
    await store.abortUpload(bucket, "ended", aborted.uploadId);
    for (const { uploadId, uploaded } of [done, aborted]) {
      const refused = is("no-such-upload");
      await assert.rejects(store.uploadPart(bucket, "ended", uploadId, 2, octets("x")), refused);
      const complete = store.completeUpload(bucket, "ended", uploadId, uploaded, ONCE);
      await assert.rejects(complete, refused);
      await store.abortUpload(bucket, "ended", uploadId);
    }
    assert.equal(await textOf(await store.get(bucket, "ended")), PART);
  });

  test("an upload that never was, or is of another key or bucket, cannot be aborted", async () => {
    const { uploadId } = await begun("mine", [PART]);
    const other = await store.createBucket(ACCOUNT, "not-mine");
    const refused = is("no-such-upload");
    for (const id of ["", "nonsense", "f".repeat(32), uploadId.toUpperCase(), `${uploadId}\n`]) {
      await assert.rejects(store.abortUpload(bucket, "mine", id), refused);
    }
    await assert.rejects(store.abortUpload(bucket, "yours", uploadId), refused);
    await assert.rejects(store.abortUpload(other, "mine", uploadId), refused);
    await store.abortUpload(bucket, "mine", uploadId);
  });

  test("an upload lapses seven days after it was begun, whether or not it is swept", async () => {
    const { uploadId, uploaded } = await begun("lapsed", [PART]);
    clock += 7 * 24 * HOUR_MS - 60_000;
    const { uploadId: young } = await begun("lapsed", [PART]);
    await store.uploadPart(bucket, "lapsed", uploadId, 1, octets(PART));
    clock += 60_000;
    const refused = is("no-such-upload");
    await assert.rejects(store.uploadPart(bucket, "lapsed", uploadId, 1, octets(PART)), refused);
    const complete = store.completeUpload(bucket, "lapsed", uploadId, uploaded, EVEN);
    await assert.rejects(complete, refused);
    await store.sweep();
    await store.uploadPart(bucket, "lapsed", young, 1, octets(PART));
    await store.abortUpload(bucket, "lapsed", uploadId);
    await store.abortUpload(bucket, "lapsed", young);
    clock += 7 * 24 * HOUR_MS;
    await store.sweep();
    await assert.rejects(store.abortUpload(bucket, "lapsed", uploadId), refused);
  });

  test("puts and deletes of the key leave its uploads alone", async () => {
    const { uploadId, uploaded } = await begun("beside", [PART]);
    await store.put(bucket, "beside", octets("put meanwhile"));
    await store.delete(bucket, ["beside"]);
    await store.put(bucket, "beside", octets("put meanwhile"));
    await store.completeUpload(bucket, "beside", uploadId, uploaded, EVEN);
    assert.equal(await textOf(await store.get(bucket, "beside")), PART);
    await store.put(bucket, "beside", octets("put later"));
    assert.equal(await textOf(await store.get(bucket, "beside")), "put later");
  });

  test("a reader of parts keeps them all, through an overwrite and a sweep", async () => {
    const others = (await blobIds(blobs)).length;
    const parts = Array.from({ length: 70 }, (_, i) => `part number ${1000 + i}`);
    const { uploadId, uploaded } = await begun("read", parts);
    await store.completeUpload(bucket, "read", uploadId, uploaded, EVEN);
    const reader = await store.get(bucket, "read");
    const leaver = await store.get(bucket, "read");
    await store.put(bucket, "read", octets("new"));
    clock += HOUR_MS;
    await store.sweep();
    assert.equal(await textOf(reader), parts.join(""));
    assert.ok((await blobIds(blobs)).length >= parts.length, "somebody still reads");
    assert.ok(leaver.kind === "found" && !(leaver.body instanceof Uint8Array));
    for await (const _ of leaver.body) break;
    await store.sweep();
    assert.ok((await blobIds(blobs)).length <= others, "nobody reads them any more");
  });

  test("of parts and completions at once each takes effect or is refused, and nothing is left over", async () => {
    for (let round = 0; round < 10; round++) {
      const { uploadId, uploaded } = await begun("race", [PART]);
      const [completed, part] = await Promise.allSettled([
        store.completeUpload(bucket, "race", uploadId, uploaded, EVEN),
        store.uploadPart(bucket, "race", uploadId, 1, octets("another part!!")),
        store.uploadPart(bucket, "race", uploadId, 2, octets("another part!!")),
      ]);
      if (completed.status === "rejected") {
        assert.ok(is("no-such-part")(completed.reason), String(completed.reason));
        await store.abortUpload(bucket, "race", uploadId);
      } else {
        assert.equal(await textOf(await store.get(bucket, "race")), PART);
        if (part.status === "rejected") assert.ok(is("no-such-upload")(part.reason));
      }
    }
  });

  test("in the end nothing is left but what the objects hold", async () => {
    const { objects } = await store.list(bucket);
    await store.delete(
      bucket,
      objects.map(({ key }) => key),
    );
    clock += 8 * 24 * HOUR_MS;
    await store.sweep();
    clock += 8 * 24 * HOUR_MS;
    await store.sweep();
    assert.deepEqual(await blobIds(blobs), []);
  });

  test("a reader that leaves while the next part is opened leaves nothing open", async () => {
    const opened = new Set<string>();
    const held = Promise.withResolvers<void>();
    let isHeld = false;
    const watched: BlobDriver = {
      ...blobs,
      async open(id) {
        const blob = await blobs.open(id);
        if (isHeld) await held.promise;
        opened.add(id);
        const close = async () => {
          opened.delete(id);
          await blob![Symbol.asyncDispose]();
        };
        return { ...blob!, [Symbol.asyncDispose]: close };
      },
    };
    const reading = new ObjectStore({ db: db(), blobs: watched, now, limits: smallLimits });
    const { uploadId, uploaded } = await begun("left", ["first part!!", "second part!", "rest"]);
    await store.completeUpload(bucket, "left", uploadId, uploaded, EVEN);
    const got = await reading.get(await reading.bucket("uploads"), "left");
    assert.ok(got.kind === "found" && !(got.body instanceof Uint8Array));
    const pieces = got.body[Symbol.asyncIterator]();
    let read = 0;
    while (read < "first part!!".length) read += (await pieces.next()).value.length;
    isHeld = true;
    const next = pieces.next();
    const isLeft = pieces.return!();
    held.resolve();
    await Promise.all([next, isLeft]);
    assert.deepEqual([...opened], []);
  });
});
