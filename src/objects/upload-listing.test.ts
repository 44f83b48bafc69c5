/** Lists of uploads and parts where they are many; the model has the rest. On both engines. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { atMost } from "#kit/at-once.ts";
import { memoryDriver } from "./drivers/memory.ts";
import type { Bucket } from "./model.ts";
import type { UploadListOptions } from "./upload-model.ts";
import { ObjectStore } from "./object-store.ts";
import { ACCOUNT, is, octets, onBothEngines, smallLimits } from "./store.contract.ts";

/** More than are read at a time. */
const MANY = 1_100;

onBothEngines("lists of uploads", (db) => {
  let store: ObjectStore;
  let bucket: Bucket;
  let clock = 1_700_000_000_000;
  const now = () => clock++;

  before(async () => {
    store = new ObjectStore({ db: db(), blobs: memoryDriver(), now, limits: smallLimits });
    bucket = await store.createBucket(ACCOUNT, "listed");
    const keys = ["a", "crowd/y", "z", ...Array.from({ length: MANY }, (_, i) => `crowd/${i}`)];
    await atMost(16, keys, async (key) => void (await store.createUpload(bucket, key)));
  });

  /** The keys and prefixes of all pages. */
  async function walk(options: UploadListOptions) {
    const [keys, prefixes, sizes]: [string[], string[], number[]] = [[], [], []];
    let next: { key: string; uploadId: string } | null = { key: "", uploadId: "" };
    while (next !== null) {
      const markers = { keyMarker: next.key, uploadIdMarker: next.uploadId };
      const page = await store.listUploads(bucket, { ...options, ...markers });
      keys.push(...page.uploads.map(({ key }) => key));
      prefixes.push(...page.prefixes);
      sizes.push(page.uploads.length + page.prefixes.length);
      next = page.next;
    }
    return { keys, prefixes, sizes };
  }

  test("pages show all of them, each once and in order", async () => {
    const { keys, sizes } = await walk({});
    assert.equal(keys.length, MANY + 3);
    assert.deepEqual(keys, keys.toSorted());
    assert.deepEqual(sizes, [1000, MANY + 3 - 1000]);
  });

  test("a group of more uploads than are read at once is one entry, and what follows it is shown", async () => {
    for (const limit of [1, 2, 1000]) {
      const { keys, prefixes } = await walk({ delimiter: "/", limit });
      assert.deepEqual([keys, prefixes], [["a", "z"], ["crowd/"]]);
    }
    const { keys } = await walk({ delimiter: "/", prefix: "crowd/", limit: 700 });
    assert.equal(keys.length, MANY + 1);
  });

  test("the uploads of a key come in the order in which they were begun", async () => {
    const begun = [];
    for (let i = 0; i < 5; i++) begun.push((await store.createUpload(bucket, "same")).uploadId);
    const { uploads } = await store.listUploads(bucket, { prefix: "same" });
    assert.deepEqual(
      uploads.map(({ uploadId }) => uploadId),
      begun,
    );
    const behind = { keyMarker: "same", uploadIdMarker: begun[2]!, limit: 1 };
    const page = await store.listUploads(bucket, behind);
    assert.equal(page.uploads[0]?.uploadId, begun[3]);
    assert.deepEqual(page.next, { key: "same", uploadId: begun[3] });
    const bad = { keyMarker: "same", uploadIdMarker: "other" };
    await assert.rejects(store.listUploads(bucket, bad), is("bad-cursor"));
    await assert.rejects(store.listUploads(bucket, { limit: 0 }), is("bad-limit"));
  });

  test("an upload is listed with what it was begun with, and not when it has ended or lapsed", async () => {
    const options = {
      storageClass: "InfrequentAccess",
      tags: { a: "b" },
      checksum: { algorithm: "crc64nvme", type: "full" },
    } as const;
    const upload = await store.createUpload(bucket, "told", options);
    const list = async () => (await store.listUploads(bucket, { prefix: "told" })).uploads;
    assert.deepEqual(await list(), [upload]);
    const { storageClass, tags, checksum, encryption } = upload;
    assert.deepEqual({ storageClass, tags, checksum }, options);
    assert.equal(encryption, null);
    await store.abortUpload(bucket, "told", upload.uploadId);
    assert.deepEqual(await list(), []);
    await store.createUpload(bucket, "told");
    clock += 7 * 86_400_000;
    assert.deepEqual(await list(), []);
  });

  test("parts are told with their checksums, of the upload as of the object", async () => {
    const checksum = { algorithm: "crc32", type: "full" } as const;
    const { uploadId } = await store.createUpload(bucket, "parts", { checksum });
    const uploaded = [];
    for (const number of [2, 5, 9]) {
      const body = octets(`part number ${number}`);
      uploaded.push(await store.uploadPart(bucket, "parts", uploadId, number, body));
    }
    const { upload, parts, next } = await store.listParts(bucket, "parts", uploadId, { limit: 2 });
    assert.deepEqual([upload.uploadId, upload.checksum, next], [uploadId, checksum, 5]);
    assert.deepEqual(
      parts.map(({ partNumber, etag, checksums }) => ({ partNumber, etag, checksums })),
      uploaded.slice(0, 2),
    );
    assert.match(parts[0]!.checksums.crc32!, /^[0-9a-f]{8}$/);
    const rest = await store.listParts(bucket, "parts", uploadId, { after: 5 });
    assert.deepEqual([rest.parts.length, rest.next], [1, null]);
    const named = uploaded.map(({ checksums, ...part }) => {
      return { ...part, checksum: { algorithm: "crc32" as const, value: checksums.crc32! } };
    });
    const wrong = [{ ...named[0]!, checksum: { algorithm: "crc32", value: "0" } } as const];
    const uneven = { evenParts: false };
    const complete = (parts: typeof named) =>
      store.completeUpload(bucket, "parts", uploadId, parts, uneven);
    await assert.rejects(complete([...wrong]), is("no-such-part"));
    const object = await complete(named);
    assert.deepEqual([object?.partCount, object?.checksumType], [3, "full"]);
    const page = await store.partsOf(bucket, "parts", { after: 1, limit: 1 });
    assert.deepEqual([page?.object, page?.next], [object, 2]);
    assert.deepEqual(page?.parts, [{ ...parts[1]!, partNumber: 2, start: parts[0]!.size }]);
    assert.equal(await store.partsOf(bucket, "none"), null);
    const ended = store.listParts(bucket, "parts", uploadId);
    await assert.rejects(ended, is("no-such-upload"));
  });
});
