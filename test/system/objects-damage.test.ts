/** Blobs that are damaged behind the store's back, and readers of what is gone. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { appendFile, mkdtemp, readdir, rm, truncate, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { integer, statement } from "#db";
import { type GetResult, ObjectFault } from "#objects";
import { id } from "../../src/objects/schema.ts";
import { openStore } from "../../src/store.ts";
import { checkSwept, readAll } from "../crash/objects-check.ts";
import { openObjects, type Opened, PART_OCTETS } from "../crash/objects-work.ts";

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-damage-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

const isUnavailable = (error: unknown) =>
  error instanceof ObjectFault && error.kind === "unavailable";

const blobsOf = statement({
  sql: `SELECT 0, blob FROM objects WHERE part_count IS NULL AND blob IS NOT NULL
        UNION ALL SELECT number, blob FROM parts WHERE blob IS NOT NULL ORDER BY 1`,
  gives: { number: integer, blob: id },
});

/** The paths of the blobs that there are, parts by their numbers. */
async function blobPaths({ db }: Opened, folder: string): Promise<string[]> {
  const rows = await db.all(blobsOf({}));
  return rows.map(({ blob }) => join(folder, "blobs", blob.slice(0, 2), blob.slice(2)));
}

test("an object whose blob is gone or cut short is a fault, never fewer octets; others are served", async (t) => {
  const folder = await folderFor(t);
  await using opened = await openObjects(folder);
  const { store, bucket } = opened;
  const octets = randomBytes(2_000_000);
  await store.put(bucket, "good", randomBytes(100));
  const damages: readonly ((path: string) => Promise<void>)[] = [
    (path) => unlink(path),
    (path) => truncate(path, 0),
    (path) => truncate(path, octets.length - 1),
    (path) => appendFile(path, "more"),
  ];
  for (const damage of damages) {
    await store.put(bucket, "bad", octets);
    const [path] = await blobPaths(opened, folder);
    await damage(path!);
    // Before there is a body: a door can still say what is wrong.
    await assert.rejects(store.get(bucket, "bad"), isUnavailable);
    const range = { offset: 0, length: 10 };
    await assert.rejects(store.get(bucket, "bad", { range }), isUnavailable);
    assert.equal((await store.head(bucket, "bad"))?.size, octets.length);
    assert.equal((await readAll(await store.get(bucket, "good"))).length, 100);
    await store.delete(bucket, ["bad"]);
    await checkSwept(opened, folder);
  }
});

test("a part that is gone or cut short, and a blob that is cut while it is read, end the body in a fault", async (t) => {
  const folder = await folderFor(t);
  await using opened = await openObjects(folder);
  const { store, bucket } = opened;
  for (const damage of [unlink, (path: string) => truncate(path, 10)]) {
    const { uploadId } = await store.createUpload(bucket, "bad");
    const parts = [];
    for (const number of [1, 2, 3]) {
      const octets = randomBytes(PART_OCTETS);
      parts.push(await store.uploadPart(bucket, "bad", uploadId, number, octets));
    }
    await store.completeUpload(bucket, "bad", uploadId, parts, { evenParts: true });
    await damage((await blobPaths(opened, folder))[1]!);
    const { chunks, error } = await readUntilFault(await store.get(bucket, "bad"));
    assert.equal(Buffer.concat(chunks).length, PART_OCTETS);
    assert.ok(isUnavailable(error), String(error));
    const range = { offset: PART_OCTETS * 2, length: PART_OCTETS };
    const last = await readAll(await store.get(bucket, "bad", { range }));
    assert.equal(last.length, PART_OCTETS, "what is whole can still be read");
    await store.delete(bucket, ["bad"]);
    await checkSwept(opened, folder);
  }
  await store.put(bucket, "cut", randomBytes(2_000_000));
  const got = await store.get(bucket, "cut");
  await truncate((await blobPaths(opened, folder))[0]!, 1_000_000);
  assert.ok(isUnavailable((await readUntilFault(got)).error));
});

async function readUntilFault(got: GetResult) {
  assert.ok(got.kind === "found" && !(got.body instanceof Uint8Array));
  const chunks: Uint8Array[] = [];
  let error: unknown = null;
  try {
    for await (const chunk of got.body) chunks.push(chunk);
  } catch (thrown) {
    error = thrown;
  }
  return { chunks, error };
}

test("the bucket of a program tells of a damaged object with an error, from get or from its body", async (t) => {
  const folder = await folderFor(t);
  await using store = await openStore({ data: folder });
  const bucket = await store.createBucket("damaged");
  await bucket.put("bad", randomBytes(2_000_000));
  const opened = (await bucket.get("bad"))!;
  const blob = (await readdir(join(folder, "blobs"), { recursive: true })).find((path) =>
    /^[0-9a-f]{2}.[0-9a-f]{30}$/.test(path),
  );
  await truncate(join(folder, "blobs", blob!), 700_000);
  await assert.rejects(opened.bytes());
  await assert.rejects(bucket.get("bad"), { message: /^get: .* \(10043\)$/ });
  await bucket.put("bad", "mended");
  assert.equal(await (await bucket.get("bad"))?.text(), "mended");
});

test("a reader gets all of the old octets while they are replaced, deleted and swept; then they go", async (t) => {
  const folder = await folderFor(t);
  await using opened = await openObjects(folder);
  const { store, bucket } = opened;
  const size = 8_000_000;
  const octets = randomBytes(4 * size);
  const writes = {
    "one blob": () => store.put(bucket, "read", octets),
    parts: async () => {
      const { uploadId } = await store.createUpload(bucket, "read");
      const parts = [];
      for (let i = 0; i < 4; i++) {
        const part = octets.subarray(i * size, (i + 1) * size);
        parts.push(await store.uploadPart(bucket, "read", uploadId, i + 1, part));
      }
      return store.completeUpload(bucket, "read", uploadId, parts, { evenParts: true });
    },
  };
  for (const [form, write] of Object.entries(writes)) {
    await write();
    const readers = await Promise.all([1, 2, 3].map(() => store.get(bucket, "read")));
    const [slow, whole, gone] = readers.map((got) => {
      assert.ok(got.kind === "found" && !(got.body instanceof Uint8Array));
      return got.body[Symbol.asyncIterator]();
    });
    const chunks = [(await slow!.next()).value as Uint8Array];
    await store.put(bucket, "read", randomBytes(100_000));
    await store.sweep();
    chunks.push((await slow!.next()).value as Uint8Array);
    await store.delete(bucket, ["read"]);
    await store.sweep();
    for (let next = await slow!.next(); next.done !== true; next = await slow!.next()) {
      chunks.push(next.value);
      if (chunks.length % 16 === 0) await store.sweep();
    }
    assert.ok(Buffer.concat(chunks).equals(octets), `slowly, of ${form}`);
    const rest = await Array.fromAsync({ [Symbol.asyncIterator]: () => whole! });
    assert.ok(Buffer.concat(rest).equals(octets), `begun late, of ${form}`);
    await store.sweep();
    assert.notEqual((await Array.fromAsync(opened.blobs.list())).length, 0, "one reader is left");
    await gone!.return?.();
    await checkSwept(opened, folder);
    assert.equal((await Array.fromAsync(opened.blobs.list())).length, 0);
  }
});
