/** Holds a store that was cut off against what it may hold, and its blobs against its rows. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { integer, maybe, statement, text } from "#db";
import type { GetResult, ObjectInfo } from "#objects";
import { id } from "../../src/objects/schema.ts";
import type { Ledger, OpenUpload, Possibility } from "./objects-ledger.ts";
import { md5Of, octetsOf, type Opened, type Piece } from "./objects-work.ts";

type Chance = (limit: number) => number;

/** Small, so that the list has many pages. */
const PAGE = 7;

const blobsNamed = statement({
  sql: `SELECT blob FROM objects WHERE blob IS NOT NULL AND part_count IS NULL
        UNION ALL SELECT blob FROM parts WHERE blob IS NOT NULL`,
  gives: { blob: id },
});
const openUploads = statement({
  sql: "SELECT id FROM uploads WHERE is_open = 1",
  gives: { id },
});
const partsOfUpload = statement({
  sql: "SELECT number, md5 FROM parts WHERE upload = :upload",
  takes: { upload: id },
  gives: { number: integer, md5: text },
});
/** Of uploads that have neither become an object nor are under way. */
const strayParts = statement({
  sql: `SELECT upload, number, blob FROM parts
        WHERE upload NOT IN (SELECT id FROM uploads WHERE is_open = 1)
        AND upload NOT IN (SELECT blob FROM objects WHERE part_count IS NOT NULL)`,
  gives: { upload: id, number: integer, blob: maybe(id) },
});
const garbage = statement({ sql: "SELECT id FROM blob_garbage", gives: { id } });

/** Throws when anything is lost, half there or left over. Ends some of the uploads under way. */
export async function checkStore(
  opened: Opened,
  dataDir: string,
  ledger: Ledger,
  chance: Chance,
): Promise<void> {
  const { db } = opened;
  const files = await fileIds(opened);
  // Until the sweep, those that are garbage may be gone or not.
  const waiting = new Set((await db.all(garbage({}))).map((row) => row.id));
  const stray = new Set((await db.all(strayParts({}))).map((row) => row.blob));
  for (const blob of await namedIds(opened)) {
    if (waiting.has(blob) || stray.has(blob)) continue;
    assert.ok(files.has(blob), `The blob ${blob} is missing`);
  }
  const open = new Set((await db.all(openUploads({}))).map((row) => row.id));
  ledger.settleUploads((uploadId) => open.has(uploadId));
  await checkKeys(opened, ledger, chance);
  for (const [uploadId, upload] of ledger.uploads) {
    await settleParts(opened, uploadId, upload);
    if (chance(2) === 0) await endUpload(opened, ledger, uploadId, upload);
  }
  await checkKeys(opened, ledger, chance);
  await checkSwept(opened, dataDir);
  // The sweep has taken nothing that can be read.
  await checkKeys(opened, ledger, chance);
}

/** Sweeps; then every blob has its name and every name its blob. */
export async function checkSwept(opened: Opened, dataDir: string): Promise<void> {
  const { db, store } = opened;
  await store.sweep();
  const [named, left] = [await namedIds(opened), await fileIds(opened)];
  assert.deepEqual([...left].sort(), [...named].sort(), "files and names after a sweep");
  assert.deepEqual(await db.all(garbage({})), []);
  assert.deepEqual(await db.all(strayParts({})), []);
  assert.deepEqual(await readdir(join(dataDir, "blobs", "new")), [], "drafts");
}

/** Removes everything; then there must be nothing. */
export async function checkEmptied(opened: Opened, ledger: Ledger): Promise<void> {
  const { db, store, bucket } = opened;
  await store.delete(bucket, [...ledger.keys.keys()]);
  await store.deleteBucket(bucket.name);
  await store.sweep({ orphans: false });
  assert.deepEqual([...(await fileIds(opened))], []);
  assert.deepEqual(await db.all(garbage({})), []);
  assert.deepEqual(await db.all(strayParts({})), []);
}

async function checkKeys({ store, bucket }: Opened, ledger: Ledger, chance: Chance): Promise<void> {
  const listed = new Map<string, ObjectInfo>();
  let cursor: string | null = null;
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const page = await store.list(bucket, { limit: PAGE, ...from });
    for (const object of page.objects) listed.set(object.key, object);
    cursor = page.cursor;
  } while (cursor !== null);
  assert.deepEqual([...listed.keys()], [...listed.keys()].sort());
  for (const key of listed.keys()) assert.ok(ledger.keys.has(key), `${key} was never written`);
  for (const [key, place] of ledger.keys) {
    const head = await store.head(bucket, key);
    assert.deepEqual(listed.get(key) ?? null, head, `${key} in the list`);
    const found = foundAmong(key, head, place.possible);
    place.settle(found);
    const got = await store.get(bucket, key);
    if (found.pieces === null) {
      assert.equal(got.kind, "missing");
      continue;
    }
    const octets = wholeOf(found.pieces);
    assert.deepEqual(got.kind === "found" && got.object, head, `${key} when it is read`);
    assert.ok((await readAll(got)).equals(octets), `${key} has other octets`);
    const offset = chance(octets.length + 1);
    const length = chance(octets.length - offset + 1);
    if (length === 0) continue;
    const some = await readAll(await store.get(bucket, key, { range: { offset, length } }));
    assert.ok(some.equals(octets.subarray(offset, offset + length)), `a range of ${key}`);
  }
}

function foundAmong(
  key: string,
  head: ObjectInfo | null,
  possible: readonly Possibility[],
): Possibility {
  const found = possible.find(
    ({ etag, pieces, version }) =>
      etag === (head?.etag ?? null) &&
      sizeOf(pieces) === (head?.size ?? 0) &&
      (version === null || version === head?.version),
  );
  if (found !== undefined) return { ...found, version: head?.version ?? null };
  return assert.fail(
    `${key} is ${JSON.stringify(head)}, but may only be one of ${JSON.stringify(possible)}`,
  );
}

/** A part that was being sent may be there or not, or be the one before it. */
async function settleParts({ db }: Opened, uploadId: string, { parts }: OpenUpload): Promise<void> {
  const rows = await db.all(partsOfUpload({ upload: uploadId }));
  const md5s = new Map(rows.map(({ number, md5 }) => [number, md5]));
  for (const [number, place] of parts) {
    const md5 = md5s.get(number) ?? null;
    const found = place.possible.find(({ etag }) => etag === md5);
    assert.ok(found, `Part ${number} of ${uploadId} has the MD5 ${md5}`);
    place.settle(found);
    md5s.delete(number);
  }
  assert.deepEqual([...md5s], [], `parts of ${uploadId} that were never sent`);
}

/** Completes an upload with its parts; one that has none, or lacks one, is aborted. */
async function endUpload(
  { store, bucket }: Opened,
  ledger: Ledger,
  uploadId: string,
  { key, parts }: OpenUpload,
): Promise<void> {
  const sorted = [...parts].toSorted(([a], [b]) => a - b);
  const pieces = sorted.flatMap(([, place]) => place.possible[0]!.pieces ?? []);
  const number = -1;
  if (pieces.length === 0 || pieces.length < sorted.length) {
    ledger.take({ begin: number, operation: { kind: "abort", uploadId } });
    await store.abortUpload(bucket, key, uploadId);
    ledger.take({ done: number, outcome: {} });
    return;
  }
  const named = sorted.map(([partNumber], i) => ({ partNumber, etag: md5Of(pieces[i]!) }));
  ledger.take({ begin: number, operation: { kind: "complete", key, uploadId, pieces } });
  const options = { evenParts: true, isRepeatable: false };
  const object = await store.completeUpload(bucket, key, uploadId, named, options);
  const { version, etag } = object!;
  ledger.take({ done: number, outcome: { version, etag } });
}

function wholeOf(pieces: readonly Piece[]): Buffer {
  return Buffer.concat(pieces.map(octetsOf));
}

function sizeOf(pieces: readonly Piece[] | null): number {
  return (pieces ?? []).reduce((sum, { size }) => sum + size, 0);
}

export async function readAll(got: GetResult): Promise<Buffer> {
  assert.equal(got.kind, "found");
  if (got.body instanceof Uint8Array) return Buffer.from(got.body);
  return Buffer.concat(await Array.fromAsync(got.body));
}

async function namedIds({ db }: Opened): Promise<Set<string>> {
  return new Set((await db.all(blobsNamed({}))).map(({ blob }) => blob));
}

async function fileIds({ blobs }: Opened): Promise<Set<string>> {
  return new Set((await Array.fromAsync(blobs.list())).map((blob) => blob.id));
}
