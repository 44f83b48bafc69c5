/** A store that is cut off, or whose calls fail, at every single step: nothing is lost and nothing left. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { statement, text } from "#db";
import type { BlobDriver } from "./driver.ts";
import type { Bucket } from "./model.ts";
import type { UploadedPart } from "./upload-model.ts";
import { ObjectStore } from "./object-store.ts";
import {
  ACCOUNT,
  blobIds,
  forgetfulDriver,
  octets,
  onBothEngines,
  smallLimits,
  textOf,
} from "./store.contract.ts";
import { troubles, wrapped, wrappedBlobs } from "./trouble.contract.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const leftover = statement({
  sql: `SELECT 'garbage' FROM blob_garbage UNION ALL SELECT 'part' FROM parts
        UNION ALL SELECT 'upload' FROM uploads WHERE is_open = 1 UNION ALL SELECT 'body' FROM bodies`,
  gives: { what: text },
});

onBothEngines("trouble", (db) => {
  let clock = 1_700_000_000_000;
  const now = () => clock;
  let made = 0;
  const storeOn = (blobs: BlobDriver, on = db()) =>
    new ObjectStore({ db: on, blobs, now, limits: smallLimits });

  for (const [name, trouble] of Object.entries(troubles)) {
    test(`${name}: at every step`, { timeout: 600_000 }, async () => {
      for (let at = 1, met = true; met; at++) {
        const blobs = forgetfulDriver(now);
        const calm = storeOn(blobs);
        const bucket = await calm.createBucket(ACCOUNT, `trouble-${++made}`);
        const { around, hasCome } = trouble(at);
        const troubled = storeOn(wrappedBlobs(blobs, around), wrapped(db(), around));
        const expected = await story(troubled, bucket, () => (clock += 2 * HOUR_MS));
        met = hasCome();
        const restarted = storeOn(blobs);
        for (let sweeps = 0; sweeps < 2; sweeps++) {
          clock += DAY_MS;
          await restarted.sweep();
        }
        await verify(restarted, bucket, expected, at);
        await empty(restarted, bucket);
        assert.deepEqual(await blobIds(blobs), [], `after trouble at step ${at}`);
        await restarted.deleteBucket(bucket.name);
      }
      assert.deepEqual(await db().all(leftover({})), []);
    });
  }

  /** What was acknowledged is there; what failed has happened whole or not at all. */
  async function verify(
    store: ObjectStore,
    bucket: Bucket,
    expected: ReadonlyMap<string, ReadonlySet<string | null>>,
    at: number,
  ): Promise<void> {
    const { objects } = await store.list(bucket);
    for (const [key, values] of expected) {
      const got = await store.get(bucket, key);
      const value = got.kind === "missing" ? null : await textOf(got);
      const why = `${key} is ${value}, not of ${[...values].join(" | ")}, after trouble at ${at}`;
      assert.ok(values.has(value), why);
      const listed = objects.find((object) => object.key === key) ?? null;
      assert.deepEqual(listed, await store.head(bucket, key));
    }
  }

  /** Without looking for orphans: nothing may need that any more. */
  async function empty(store: ObjectStore, bucket: Bucket): Promise<void> {
    await store.delete(bucket, ["a", "b", "c", "d", "e"]);
    for (let sweeps = 0; sweeps < 2; sweeps++) {
      clock += 15 * DAY_MS;
      await store.sweep({ orphans: false });
    }
  }
});

/** Uses all there is, and tells which values each key may have in the end. */
async function story(store: ObjectStore, bucket: Bucket, wait: () => void) {
  const values = new Map<string, Set<string | null>>();
  /** When the work fails, the key may have its new value or one of those before. */
  const step = async <T>(key: string, value: string | null, work: () => Promise<T>) => {
    const before = values.get(key) ?? new Set([null]);
    try {
      const result = await work();
      values.set(key, new Set([value]));
      return result;
    } catch {
      values.set(key, new Set([...before, value]));
      return null;
    }
  };
  const attempt = <T>(work: () => Promise<T>) => work().catch(() => null);
  const put = (key: string, value: string, conditional = false) =>
    step(key, value, () => {
      const conditions = { etagDoesNotMatch: [{ type: "strong", value: "x" }] } as const;
      return store.put(bucket, key, octets(value), conditional ? { conditions } : {});
    });
  const upload = async (key: string, complete: boolean) => {
    const uploadId = (await attempt(() => store.createUpload(bucket, key)))?.uploadId;
    if (uploadId === undefined) return;
    const part = (number: number, text: string) =>
      attempt(() => store.uploadPart(bucket, key, uploadId, number, octets(text)));
    await part(1, "first part, replaced");
    const parts = [await part(1, "the first part!!"), await part(2, "the second part!")];
    await part(3, "the third part, dropped");
    if (!complete) return attempt(() => store.abortUpload(bucket, key, uploadId));
    if (parts.includes(null)) return;
    await step(key, "the first part!!the second part!", () =>
      store.completeUpload(bucket, key, uploadId, parts as UploadedPart[], { evenParts: true }),
    );
  };

  await put("a", "the first value of a");
  await put("a", "the second value of a");
  await put("b", "short");
  await put("b", "no longer a short value", true);
  await put("e", "a value of e that stays");
  await upload("c", true);
  await upload("d", false);
  wait(); // Until others cannot be reading any more.
  await attempt(() => store.sweep());
  await put("c", "short");
  await upload("a", true);
  await upload("a", true);
  await step("b", null, () => store.delete(bucket, ["b"]));
  const never = { etagMatches: [{ type: "strong", value: "x" }] } as const;
  await attempt(() =>
    store.put(bucket, "e", octets("a value that is refused"), { conditions: never }),
  );
  wait();
  await attempt(() => store.sweep());
  return values;
}
