import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { suite, test } from "node:test";
import { mustRun } from "../../test/support/program.ts";
import { HashThread, type ThreadHashing } from "./hash-thread.ts";
import type { Body } from "./model.ts";

const MIB = 1024 ** 2;
/** So many bodies at a time do not all find one. */
const MORE_THAN_SLABS = 60;

/** In pieces of these sizes in turn; once the next is asked for, its owner may change one. */
async function* inPieces(octets: Uint8Array, sizes: readonly number[] = [65_536]): Body {
  for (let at = 0, i = 0; at < octets.length; i++) {
    const piece = Uint8Array.from(octets.subarray(at, at + sizes[i % sizes.length]!));
    yield piece;
    at += piece.length;
    piece.fill(0);
  }
}

/** What comes through, as it was when it came. */
async function passed(hashing: ThreadHashing, body: Body): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of hashing.pass(body)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Holds a body to its octets and its digest. */
async function check(thread: HashThread, octets: Buffer, sizes?: readonly number[]): Promise<void> {
  const hashing = thread.begin(["md5"]);
  assert.ok((await passed(hashing, inPieces(octets, sizes))).equals(octets));
  assert.deepEqual(await hashing.finish(), [hash("md5", octets)]);
}

test("bodies that come together are each passed on and hashed whole, in their order", async () => {
  await using thread = new HashThread();
  const bodies = Array.from({ length: 12 }, (_, i) => randomBytes(3 * MIB + i));
  await Promise.all(
    bodies.map(async (octets, i) => {
      const hashing = thread.begin(["md5", "sha256", "crc32"]);
      // In pieces on both sides of a slab.
      const through = await passed(hashing, inPieces(octets, [100_000 + i * 60_000]));
      assert.ok(through.equals(octets));
      const [md5, sha256] = await hashing.finish();
      assert.deepEqual([md5, sha256], [hash("md5", octets), hash("sha256", octets)]);
    }),
  );
});

test("small pieces are hashed as they came, between large ones too", async () => {
  await using thread = new HashThread();
  const sizes = [1, 4096, 300_000, 7, 262_144, 65_536, 100_000, 262_143, 1, 524_288];
  await check(thread, randomBytes(2 * MIB), sizes);
});

test("a body may have any length, and none", async () => {
  await using thread = new HashThread();
  const lengths = [0, 1, 55, 56, 64, 262_143, 262_144, 262_145, 524_288, 524_288 + 63];
  await Promise.all(lengths.map((length) => check(thread, randomBytes(length))));
});

test("where MD5 is not asked for, the others are there, or none at all", async () => {
  await using thread = new HashThread();
  const octets = randomBytes(MIB);
  for (const algorithms of [["sha1"], []] as const) {
    const hashing = thread.begin(algorithms);
    await passed(hashing, inPieces(octets));
    assert.deepEqual(
      await hashing.finish(),
      algorithms.map((name) => hash(name, octets)),
    );
  }
});

test("bodies whose clients are slow keep nobody waiting", async () => {
  await using thread = new HashThread();
  const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
  const octets = randomBytes(MIB);
  const begun: Promise<void>[] = [];
  const slow = Array.from({ length: MORE_THAN_SLABS }, async () => {
    const hashing = thread.begin(["md5"]);
    const first = Promise.withResolvers<void>();
    begun.push(first.promise);
    const body = async function* () {
      yield octets.subarray(0, 1000);
      first.resolve();
      await until;
      yield* inPieces(octets.subarray(1000));
    };
    assert.ok((await passed(hashing, body())).equals(octets));
    assert.deepEqual(await hashing.finish(), [hash("md5", octets)]);
  });
  await Promise.all(begun);
  await Promise.all([1, 2, 3].map((i) => check(thread, randomBytes(i * MIB))));
  goOn();
  await Promise.all(slow);
});

test("bodies whose disk is slow keep nobody waiting", { timeout: 120_000 }, async (t) => {
  const thread = new HashThread();
  t.after(() => thread[Symbol.asyncDispose]());
  const octets = randomBytes(600_000);
  const slow = Array.from({ length: MORE_THAN_SLABS }, () => {
    const hashing = thread.begin(["md5"]);
    return { hashing, pieces: hashing.pass(inPieces(octets)) };
  });
  // Each has a piece that it is not done with.
  const firsts = await Promise.all(slow.map(({ pieces }) => pieces.next()));
  await Promise.all([1, 2, 3].map((i) => check(thread, randomBytes(i * MIB))));
  for (const [i, { hashing, pieces }] of slow.entries()) {
    const first = Buffer.from(firsts[i]!.value as Uint8Array);
    const others = await Array.fromAsync(pieces, (piece) => Buffer.from(piece));
    assert.ok(Buffer.concat([first, ...others]).equals(octets));
    assert.deepEqual(await hashing.finish(), [hash("md5", octets)]);
  }
});

suite("a body that comes to nothing holds up nobody:", () => {
  const octets = randomBytes(300_000);
  const ways: Record<string, (hashing: ThreadHashing) => Promise<void>> = {
    "its source fails": async (hashing) => {
      const broken = async function* () {
        yield* inPieces(octets);
        throw new Error("cut");
      };
      await assert.rejects(passed(hashing, broken()), { message: "cut" });
    },
    "its reader leaves": async (hashing) => {
      for await (const piece of hashing.pass(inPieces(octets))) {
        if (piece.length > 0) break;
      }
    },
    "it is left after its end": async (hashing) => {
      await passed(hashing, inPieces(octets));
    },
    "it is never begun": async () => {},
  };
  for (const [name, way] of Object.entries(ways)) {
    test(name, async () => {
      await using thread = new HashThread();
      for (let i = 0; i < 2 * MORE_THAN_SLABS; i++) {
        const hashing = thread.begin(["md5"]);
        await way(hashing);
        hashing.leave();
      }
      await Promise.all(Array.from({ length: MORE_THAN_SLABS }, () => check(thread, octets)));
    });
  }
});

test("octets that were passed on stay as they are while somebody works with them", async () => {
  await using thread = new HashThread();
  const octets = randomBytes(MIB);
  const hashing = thread.begin(["md5"]);
  const pieces = hashing.pass(inPieces(octets));
  const first = (await pieces.next()).value as Uint8Array;
  // More than there are slabs for, while the first piece is not done with.
  const other = randomBytes(300_000);
  await Promise.all(Array.from({ length: MORE_THAN_SLABS }, () => check(thread, other)));
  assert.ok(octets.subarray(0, first.length).equals(first));
  await Array.fromAsync(pieces);
  assert.deepEqual(await hashing.finish(), [hash("md5", octets)]);
});

test("a thread that ends tells those who wait, and the next body starts another", async () => {
  await using thread = new HashThread();
  const octets = randomBytes(MIB);
  // All in one turn: the thread has not even started when it is ended.
  const hashings = Array.from({ length: MORE_THAN_SLABS }, () => thread.begin(["md5"]));
  const all = hashings.map(async (hashing) => {
    await passed(hashing, inPieces(octets));
    return hashing.finish();
  });
  const outcomes = Promise.allSettled(all);
  await thread[Symbol.asyncDispose]();
  for (const outcome of await outcomes) {
    assert.equal(outcome.status, "rejected");
    assert.match(String(outcome.reason), /The thread that hashes has ended/);
  }
  await assert.rejects(passed(hashings[0]!, inPieces(octets)), /The thread that hashes has ended/);
  for (const hashing of hashings) hashing.leave();
  await check(thread, randomBytes(0));
});

test("a program waits for the thread while it has work, and not when it has none", async () => {
  const file = JSON.stringify(new URL("./hash-thread.ts", import.meta.url).href);
  const program = `(async () => {
    const { HashThread } = await import(${file});
    const hashing = new HashThread().begin(["md5"]);
    for await (const _ of hashing.pass((async function* () { yield new Uint8Array(${8 * MIB}); })()));
    console.log(...(await hashing.finish()));
  })()`;
  const said = await mustRun(process.execPath, ["-e", program]);
  assert.equal(said, `${hash("md5", new Uint8Array(8 * MIB))}\n`);
});
