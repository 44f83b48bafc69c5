import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { mustRun } from "../../test/support/program.ts";
import { HashThread } from "./hash-thread.ts";

const MIB = 1024 ** 2;

test("bodies that come together are each hashed whole, in their order", async () => {
  await using thread = new HashThread();
  // More than there is room for at once, in pieces on both sides of a slab.
  const bodies = Array.from({ length: 12 }, (_, i) => randomBytes(3 * MIB + i));
  const digests = await Promise.all(
    bodies.map(async (octets, i) => {
      const body = thread.begin(["md5", "sha256"]);
      const size = 100_000 + i * 60_000;
      for (let at = 0; at < octets.length; at += size) {
        const piece = Uint8Array.from(octets.subarray(at, at + size));
        await body.update(piece);
        piece.fill(0); // Once it is taken, its owner may do so.
      }
      return body.finish();
    }),
  );
  assert.deepEqual(
    digests,
    bodies.map((octets) => [hash("md5", octets), hash("sha256", octets)]),
  );
});

test("small pieces are hashed as they came, between large ones too", async () => {
  await using thread = new HashThread();
  const octets = randomBytes(2 * MIB);
  const sizes = [1, 4096, 300_000, 7, 262_144, 65_536, 100_000, 262_143, 1, 524_288];
  const body = thread.begin(["md5"]);
  for (let at = 0, i = 0; at < octets.length; at += sizes[i++ % sizes.length]!) {
    const piece = Uint8Array.from(octets.subarray(at, at + sizes[i % sizes.length]!));
    await body.update(piece);
    piece.fill(0);
  }
  assert.deepEqual(await body.finish(), [hash("md5", octets)]);
});

test("a body that is left holds up nobody", async () => {
  await using thread = new HashThread();
  for (let i = 0; i < 20; i++) {
    const left = thread.begin(["md5"]);
    await left.update(randomBytes(MIB + i));
    left.leave();
  }
  const body = thread.begin(["md5"]);
  assert.deepEqual(await body.finish(), [hash("md5", "")]);
});

test("a thread that ends tells those who wait, and the next body starts another", async () => {
  await using thread = new HashThread();
  const octets = randomBytes(MIB);
  // All in one turn: the thread has not even started when it is ended.
  const body = thread.begin(["md5"]);
  const all = Array.from({ length: 40 }, () => body.update(octets));
  const finished = body.finish();
  const outcomes = Promise.allSettled([...all, finished]);
  await thread[Symbol.asyncDispose]();
  assert.ok((await outcomes).some(({ status }) => status === "rejected"));
  await assert.rejects(finished, /The thread that hashes has ended/);
  await assert.rejects(body.update(randomBytes(10)), /The thread that hashes has ended/);
  body.leave();
  assert.deepEqual(await thread.begin(["md5"]).finish(), [hash("md5", "")]);
});

test("a program waits for the thread while it has work, and not when it has none", async () => {
  const file = JSON.stringify(new URL("./hash-thread.ts", import.meta.url).href);
  const program = `(async () => {
    const { HashThread } = await import(${file});
    const body = new HashThread().begin(["md5"]);
    await body.update(new Uint8Array(${8 * MIB}));
    console.log(...(await body.finish()));
  })()`;
  const said = await mustRun(process.execPath, ["-e", program]);
  assert.equal(said, `${hash("md5", new Uint8Array(8 * MIB))}\n`);
});
