/**
 * Fills the disk that a store is on, and makes room again: `node objects-full.ts FOLDER SIZE WRITERS`. The folder must be
 * on a small disk of its own. Ends with 0 when all was as it must be.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openStore } from "../../src/store.ts";
import { INLINE_OCTETS } from "./objects-work.ts";

const CLEAR = /^(?:put|delete): .*(?:ENOSPC|disk is full).* \(10043\)$/;
/** Each writer has met so many refusals before it gives up. */
const REFUSALS = 10;

const [folder = "", sizeText, writersText] = process.argv.slice(2);
const [size, writers] = [Number(sizeText), Number(writersText)];
const data = join(folder, "data");
const ballast = join(folder, "ballast");
// More than what the log of the database has to hand over to its file.
await writeFile(ballast, Buffer.alloc(8 * 1024 * 1024));

const kept = new Map<string, Buffer>();
{
  await using store = await openStore({
    data,
    onError: (error) => assert.match(String(error), CLEAR),
  });
  const bucket = await store.createBucket("full");
  let puts = 0;
  const fill = async () => {
    for (let refusals = 0; refusals < REFUSALS;) {
      const [key, octets] = [`key ${puts++}`, randomBytes(size)];
      try {
        await bucket.put(key, octets);
        kept.set(key, octets);
      } catch (error) {
        assert.match((error as Error).message, CLEAR);
        refusals++;
      }
    }
  };
  await Promise.all(Array.from({ length: writers }, fill));
  assert.ok(kept.size > 0);
  await check(bucket);
  assert.equal(blobFiles(), size > INLINE_OCTETS ? kept.size : 0, "what was refused takes no room");
  await rm(ballast);
  // There is room again: no new start is needed.
  const again = randomBytes(size);
  await bucket.put("again", again);
  kept.set("again", again);
  const gone = [...kept.keys()].slice(0, 3);
  await bucket.delete(gone);
  for (const key of gone) kept.delete(key);
  await check(bucket);
}
await using store = await openStore({ data });
await check(store.bucket("full"));

/** Everything that was acknowledged is there, and nothing else. */
async function check(bucket: ReturnType<typeof store.bucket>): Promise<void> {
  const listed: string[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined;) {
    const page: Awaited<ReturnType<typeof bucket.list>> = await bucket.list({ cursor });
    listed.push(...page.objects.map(({ key }) => key));
    cursor = page.cursor;
  }
  assert.deepEqual(listed.toSorted(), [...kept.keys()].toSorted());
  for (const [key, octets] of kept) {
    assert.ok(octets.equals((await (await bucket.get(key))?.bytes()) ?? new Uint8Array()), key);
  }
}

function blobFiles(): number {
  const files = readdirSync(join(data, "blobs"), { recursive: true }) as string[];
  return files.filter((path) => /^[0-9a-f]{2}.[0-9a-f]{30}$/.test(path)).length;
}
