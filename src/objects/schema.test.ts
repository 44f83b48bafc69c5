/** Data that was kept with the first tables, on both engines. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type Database, migrate, statement } from "#db";
import { onBothEngines } from "../../test/support/both-engines.ts";
import { memoryDriver } from "./drivers/memory.ts";
import { ObjectStore } from "./object-store.ts";
import { objectMigrations } from "./schema.ts";
import { ACCOUNT, accountsTable, is, octets, smallLimits, textOf } from "./store.contract.ts";

const UPLOAD = "0123456789abcdef0123456789abcdef";
const OPEN_UPLOAD = "fedcba9876543210fedcba9876543210";
const MD5 = "9e107d9d372bb6826bd81d3542a419d6";

onBothEngines("the first tables", [accountsTable, objectMigrations[0]!], (db) => {
  let store: ObjectStore;

  before(async () => {
    const hex = (digits: string) => (db().engine === "sqlite" ? `x'${digits}'` : `'\\x${digits}'`);
    const text = (value: string) => hex(Buffer.from(value).toString("hex"));
    await run(
      db(),
      `INSERT INTO buckets (id, number, account_id, name, storage_class, created_at)
       VALUES ('${"c".repeat(32)}', 1, '${ACCOUNT}', 'old', 0, 5)`,
      `UPDATE bucket_numbers SET last = 1`,
      `INSERT INTO objects (bucket, key, slot, version, size, etag, uploaded_at, storage_class, checksums, metadata)
       VALUES (1, ${text("small")}, ${hex("01")}, '${"d".repeat(32)}', 4, '${MD5}', 6, 1,
         '{"sha1":"ab"}', '{"custom":{"a":"b"}}')`,
      `INSERT INTO bodies (slot, body) VALUES (${hex("01")}, ${text("body")})`,
      `INSERT INTO objects (bucket, key, slot, version, size, etag, uploaded_at, storage_class, part_count, blob)
       VALUES (1, ${text("parts")}, ${hex("02")}, '${"e".repeat(32)}', 8, '${MD5}-2', 7, 0, 2, ${hex(UPLOAD)})`,
      ...[UPLOAD, OPEN_UPLOAD].flatMap((id, i) => [
        `INSERT INTO uploads (id, bucket, key, is_open, revision, storage_class, created_at)
         VALUES (${hex(id)}, 1, ${text("parts")}, ${i}, 2, 0, 5)`,
        ...[0, 1].map(
          (part) => `INSERT INTO parts (upload, number, start, size, md5, uploaded_at, body)
            VALUES (${hex(id)}, ${part + 1}, ${4 * part}, 4, '${MD5}', 6, ${text(`par${part}`)})`,
        ),
      ]),
    );
    const migrations = [accountsTable, ...objectMigrations];
    await migrate(db(), migrations, { holder: "test", now: Date.now, sleep: async () => {} });
    const limits = { ...smallLimits, leastPartOctets: 4 };
    store = new ObjectStore({ db: db(), blobs: memoryDriver(), now: () => 1000, limits });
  });

  test("give their objects as they were", async () => {
    const bucket = await store.bucket("old");
    const small = await store.head(bucket, "small");
    assert.deepEqual(small, {
      key: "small",
      version: "d".repeat(32),
      size: 4,
      etag: MD5,
      uploadedAt: 6,
      http: {},
      custom: { a: "b" },
      checksums: { md5: MD5, sha1: "ab" },
      checksumType: "full",
      storageClass: "InfrequentAccess",
      tags: {},
      partCount: null,
      encryption: null,
    });
    const { objects } = await store.list(bucket);
    assert.deepEqual(objects, [await store.head(bucket, "parts"), small]);
    assert.deepEqual([objects[0]?.partCount, objects[0]?.checksums], [2, {}]);
    assert.equal(await textOf(await store.get(bucket, "small")), "body");
    assert.equal(await textOf(await store.get(bucket, "parts")), "par0par1");
    assert.equal((await store.partsOf(bucket, "parts"))?.parts.length, 2);
  });

  test("give an upload that goes on, and one that has ended", async () => {
    const bucket = await store.bucket("old");
    const [only, ...others] = (await store.listUploads(bucket)).uploads;
    assert.deepEqual([only?.uploadId, only?.checksum, others.length], [OPEN_UPLOAD, null, 0]);
    const part = await store.uploadPart(bucket, "parts", OPEN_UPLOAD, 3, octets("more"));
    const named = [{ partNumber: 1, etag: MD5 }, { partNumber: 2, etag: MD5 }, part];
    const complete = (id: string) =>
      store.completeUpload(bucket, "parts", id, named, { evenParts: true });
    await assert.rejects(complete(UPLOAD), is("no-such-upload"));
    const object = await complete(OPEN_UPLOAD);
    assert.deepEqual([object?.size, object?.partCount, object?.checksumType], [12, 3, null]);
    assert.equal(await textOf(await store.get(bucket, "parts")), "par0par1more");
  });
});

async function run(db: Database, ...all: readonly string[]): Promise<void> {
  await db.write(...all.map((sql) => statement({ sql })({})));
}
