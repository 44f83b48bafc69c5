import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bucket, LifecycleRule, ObjectInfo, ObjectStore, Upload } from "#objects";
import { withAbortion, withExpiration } from "./expiration.ts";

const bucket = {} as Bucket;
const object = {
  key: "logs/a",
  size: 1,
  uploadedAt: Date.UTC(2026, 11, 19, 10),
  storageClass: "Standard",
  tags: {},
} as ObjectInfo;
const upload = { key: "logs/a", createdAt: object.uploadedAt } as Upload;
const rules: LifecycleRule[] = [
  {
    id: "ä b",
    enabled: true,
    filter: { form: "rule", prefix: "logs/" },
    expiration: { days: 1 },
    transitions: [],
    abortUploadsAfterDays: 2,
  },
];
const storeWith = (setting: () => unknown) => ({ setting }) as unknown as ObjectStore;

test("an answer tells when its object expires, and by which rule", async () => {
  const store = storeWith(async () => rules);
  const told = await withExpiration({ headers: ["ETag", '"x"'] }, store, bucket, object);
  assert.deepEqual(told.headers, [
    "ETag",
    '"x"',
    "x-amz-expiration",
    'expiry-date="Mon, 21 Dec 2026 00:00:00 GMT", rule-id="%C3%A4%20b"',
  ]);
  const other = await withExpiration({}, store, bucket, { ...object, key: "other" });
  assert.deepEqual(other.headers, []);
});

test("an answer tells when its upload is aborted", async () => {
  const told = await withAbortion(
    {},
    storeWith(() => rules),
    bucket,
    upload,
  );
  assert.deepEqual(told.headers, [
    "x-amz-abort-date",
    "Tue, 22 Dec 2026 00:00:00 GMT",
    "x-amz-abort-rule-id",
    "%C3%A4%20b",
  ]);
});

test("a bucket without rules costs an answer nothing", () => {
  const answer = {};
  assert.equal(
    withExpiration(
      answer,
      storeWith(() => null),
      bucket,
      object,
    ),
    answer,
  );
});
