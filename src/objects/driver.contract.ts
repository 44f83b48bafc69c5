/** What every driver owes. Each runs this same suite. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, suite, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { atMost } from "#kit/at-once.ts";
import { randomId } from "#kit/random.ts";
import type { BlobDriver } from "./driver.ts";
import type { Body, ByteRange } from "./model.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** What a driver may hold of a body that is on its way: two parts of an upload, and what a socket holds. */
const BODY_MEMORY = 24 * MIB;

/** More than fit on a page of an S3 list. */
const MANY = 1_100;

export interface DriverTraits {
  /** Can an open blob be read when it has been deleted? */
  readonly readsDeleted: boolean;
  /** Is memory the place where it keeps the octets? */
  readonly keepsInMemory: boolean;
}

export function blobDriverContract(
  name: string,
  openDriver: () => Promise<BlobDriver>,
  { readsDeleted, keepsInMemory }: DriverTraits,
): void {
  suite(`${name} keeps the blob driver contract`, () => {
    let driver: BlobDriver;
    before(async () => {
      driver = await openDriver();
    });
    after(() => driver[Symbol.asyncDispose]());

    const kept = async (bytes: Uint8Array): Promise<string> => {
      const id = randomId();
      await driver.put(id, bodyOf(bytes));
      return id;
    };

    test("a blob reads back as it was put", async () => {
      const bytes = randomBytes(300 * KIB);
      const id = await kept(bytes);
      assert.deepEqual(await readBlob(driver, id), bytes);
    });

    test("an id that was never put opens as null", async () => {
      assert.equal(await driver.open(randomId()), null);
    });

    test("an empty blob has no octets", async () => {
      const id = await kept(new Uint8Array());
      assert.equal((await readBlob(driver, id)).length, 0);
    });

    test("a range has its octets and no others", async () => {
      const bytes = randomBytes(2 * MIB + 17);
      const id = await kept(bytes);
      const ranges: ByteRange[] = [
        { offset: 0, length: 1 },
        { offset: 0, length: 512 * KIB },
        { offset: 1, length: MIB },
        { offset: MIB - 1, length: 3 },
        { offset: 777_777, length: 12_345 },
        { offset: bytes.length - 1, length: 1 },
        { offset: bytes.length - 600 * KIB, length: 600 * KIB },
        { offset: 0, length: bytes.length },
        { offset: 0, length: 0 },
        { offset: bytes.length, length: 0 },
      ];
      for (const range of ranges) {
        const { offset, length } = range;
        const found = await readBlob(driver, id, range);
        assert.ok(found.equals(bytes.subarray(offset, offset + length)), JSON.stringify(range));
      }
    });

    test("chunks may have any size, also none", async () => {
      const sizes = [
        0,
        1,
        3,
        0,
        65_537,
        262_143,
        1,
        262_144,
        MIB + 1,
        2 * MIB,
        7,
        9 * MIB + 5,
        0,
        1,
      ];
      const chunks = sizes.map((size) => randomBytes(size));
      const id = randomId();
      await driver.put(id, bodyOf(...chunks));
      assert.ok((await readBlob(driver, id)).equals(Buffer.concat(chunks)));
    });

    test("many tiny chunks make one blob", async () => {
      const bytes = randomBytes(20_003);
      const id = randomId();
      await driver.put(id, bodyOf(...Array.from(bytes, (_, i) => bytes.subarray(i, i + 1))));
      assert.ok((await readBlob(driver, id)).equals(bytes));
    });

    test("a chunk may be filled anew once the next is asked for", async () => {
      for (const size of [1_000, 100 * KIB, 300 * KIB]) {
        const id = randomId();
        await driver.put(id, oneChunkAgain(size, 40));
        const found = await readBlob(driver, id);
        for (let i = 0; i < 40; i++) {
          const part = found.subarray(i * size, (i + 1) * size);
          assert.ok(part.every((octet) => octet === i));
        }
      }
    });

    for (const [when, sizes] of [
      ["at once", []],
      ["after some octets", [100]],
      ["after a few chunks", [MIB, 100, 200 * KIB]],
      ["after many octets", [9 * MIB, 9 * MIB, 1]],
    ] as const) {
      test(`a body that fails ${when} leaves nothing, and its error is thrown`, async () => {
        const id = randomId();
        const error = new Error("the client went away");
        const chunks = sizes.map((size) => randomBytes(size));
        await assert.rejects(driver.put(id, failing(chunks, error)), (thrown) => thrown === error);
        assert.equal(await driver.open(id), null);
        assert.ok(!(await idsOf(driver)).has(id));
        await driver.put(id, bodyOf(Buffer.from("again"))); // Nothing is in the way.
        assert.equal((await readBlob(driver, id)).toString(), "again");
      });
    }

    test("a deleted blob is gone, and deleting what is not there is no fault", async () => {
      const [one, other] = [await kept(randomBytes(10)), await kept(randomBytes(20))];
      await driver.delete([one, randomId()]);
      assert.equal(await driver.open(one), null);
      assert.equal((await readBlob(driver, other)).length, 20);
      await driver.delete([one, other]);
      await driver.delete([]);
      assert.equal(await driver.open(other), null);
    });

    if (readsDeleted)
      test("an open blob can be read when it has been deleted", async () => {
        const bytes = randomBytes(2 * MIB);
        const id = await kept(bytes);
        const blob = (await driver.open(id))!;
        await driver.delete([id]);
        assert.equal(await driver.open(id), null);
        assert.ok((await gather(blob.read({ offset: 0, length: blob.size }))).equals(bytes));
      });

    test("readers of one blob do not disturb each other", async () => {
      const bytes = randomBytes(3 * MIB);
      const id = await kept(bytes);
      const found = await Promise.all(
        [0, 1, 2, 3].map((i) => readBlob(driver, id, { offset: i, length: bytes.length - i })),
      );
      for (const [i, part] of found.entries()) assert.ok(part.equals(bytes.subarray(i)));
    });

    test("a reader may leave early, never start, or close without reading", async () => {
      const id = await kept(randomBytes(3 * MIB));
      const whole = { offset: 0, length: 3 * MIB };
      const left = (await driver.open(id))!;
      for await (const chunk of left.read(whole)) {
        assert.ok(chunk.length > 0);
        break;
      }
      await left[Symbol.asyncDispose]();
      const unstarted = (await driver.open(id))!;
      await unstarted.read(whole)[Symbol.asyncIterator]().return?.();
      const closed = (await driver.open(id))!;
      await closed[Symbol.asyncDispose]();
      await closed[Symbol.asyncDispose]();
      assert.equal((await readBlob(driver, id)).length, 3 * MIB);
    });

    test("blobs that are put together are all there", async () => {
      const blobs = Array.from({ length: 64 }, (_, i) => randomBytes((i * i * 37) % 400_000));
      const ids = await Promise.all(blobs.map(kept));
      for (const [i, id] of ids.entries()) {
        assert.ok((await readBlob(driver, id)).equals(blobs[i]!), `blob ${i}`);
      }
    });

    test("a body that waits or fails does not hold up others", async () => {
      const { promise, resolve } = Promise.withResolvers<Uint8Array>();
      const [slow, broken] = [randomId(), randomId()];
      const waiting = driver.put(slow, waitingFor(promise));
      const failed = driver.put(broken, failing([randomBytes(10)], new Error("cut")));
      await assert.rejects(failed, { message: "cut" });
      const id = await kept(Buffer.from("quick"));
      assert.equal((await readBlob(driver, id)).toString(), "quick");
      assert.ok(!(await idsOf(driver)).has(slow), "a blob is listed before it is whole");
      resolve(Buffer.from("slow"));
      await waiting;
      assert.equal((await readBlob(driver, slow)).toString(), "slow");
    });

    test("a list has every blob with the time of its writing", async () => {
      const started = Date.now();
      const bytes = randomBytes(5);
      const ids = Array.from({ length: MANY }, () => randomId());
      await atMost(32, ids, (id) => driver.put(id, bodyOf(bytes)));
      const found = new Map<string, number>();
      for await (const { id, writtenAt } of driver.list()) {
        assert.ok(!found.has(id), "an id is listed twice");
        found.set(id, writtenAt);
      }
      for (const id of ids) {
        const writtenAt = found.get(id);
        assert.ok(writtenAt !== undefined, "an id is not listed");
        // A second is the unit of some clocks, and another machine's clock may be a little off.
        assert.ok(writtenAt > started - 5_000 && writtenAt < Date.now() + 5_000);
      }
      await driver.delete(ids);
      const left = await idsOf(driver);
      for (const id of ids) assert.ok(!left.has(id));
    });

    test("what is not an id is refused, and nothing is made", async () => {
      for (const id of [
        "",
        "..",
        "../../outside",
        "ab/cdef0123",
        "ABCDEF0123456789",
        "x".repeat(32),
      ]) {
        await assert.rejects(async () => driver.put(id, bodyOf(randomBytes(1))), /not the id/);
        await assert.rejects(async () => driver.open(id), /not the id/);
      }
    });

    if (!keepsInMemory)
      test("a large body is not gathered in memory", async () => {
        const chunk = randomBytes(64 * KIB);
        const expected = createHash("sha256");
        const id = randomId();
        const memory = new MemoryWatch();
        await driver.put(
          id,
          repeated(chunk, 1024, (octets) => (expected.update(octets), memory.look())),
        );
        const blob = (await driver.open(id))!;
        assert.equal(blob.size, 64 * MIB);
        const found = createHash("sha256");
        for await (const octets of blob.read({ offset: 0, length: blob.size })) {
          found.update(octets);
          memory.look();
        }
        assert.equal(found.digest("hex"), expected.digest("hex"));
        assert.ok(memory.most < BODY_MEMORY, `${memory.most} octets were held`);
        await driver.delete([id]);
      });
  });
}

export async function* bodyOf(...chunks: readonly Uint8Array[]): Body {
  yield* chunks;
}

export async function gather(body: Body): Promise<Buffer> {
  const chunks = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The octets of a blob that must be there. */
export async function readBlob(driver: BlobDriver, id: string, range?: ByteRange): Promise<Buffer> {
  const blob = await driver.open(id);
  assert.ok(blob !== null, "the blob is not there");
  return gather(blob.read(range ?? { offset: 0, length: blob.size }));
}

export async function idsOf(driver: BlobDriver): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { id } of driver.list()) ids.add(id);
  return ids;
}

export async function* failing(chunks: readonly Uint8Array[], error: Error): Body {
  yield* chunks;
  throw error;
}

async function* waitingFor(chunk: Promise<Uint8Array>): Body {
  yield await chunk;
}

async function* repeated(
  chunk: Uint8Array,
  times: number,
  each: (chunk: Uint8Array) => void,
): Body {
  for (let i = 0; i < times; i++) {
    each(chunk);
    yield chunk;
  }
}

async function* oneChunkAgain(size: number, times: number): Body {
  const chunk = new Uint8Array(size);
  for (let i = 0; i < times; i++) yield chunk.fill(i);
  chunk.fill(255);
}

/** The most memory that buffers have taken since it was made. */
class MemoryWatch {
  static readonly #LOOK_EVERY = 64;
  readonly #collect: () => void;
  readonly #atFirst: number;
  #looks = 0;
  most = 0;

  constructor() {
    setFlagsFromString("--expose-gc");
    this.#collect = runInNewContext("gc") as () => void;
    this.#collect();
    this.#atFirst = process.memoryUsage().arrayBuffers;
  }

  look(): void {
    if (this.#looks++ % MemoryWatch.#LOOK_EVERY !== 0) return;
    // Else buffers that nobody holds would count: the first finds them, the second ends their release.
    this.#collect();
    this.#collect();
    this.most = Math.max(this.most, process.memoryUsage().arrayBuffers - this.#atFirst);
  }
}
