import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { crc32 } from "node:zlib";
import { HashThread } from "./hash-thread.ts";
import { etagOfParts, type Hashing, hashHere, hashOnThread, hashWhole } from "./hashing.ts";
import type { Algorithm, ExpectedChecksum } from "./model.ts";
import { is } from "./store.contract.ts";

const ALGORITHMS: readonly Algorithm[] = ["md5", "sha1", "sha256", "sha384", "sha512", "crc32"];
const octets = randomBytes(1000);
const digest = (algorithm: string) =>
  algorithm === "crc32"
    ? crc32(octets).toString(16).padStart(8, "0")
    : createHash(algorithm).update(octets).digest("hex");

const thread = new HashThread();
after(() => thread[Symbol.asyncDispose]());

async function* inPieces() {
  for (let at = 0; at < octets.length; at += 77) yield octets.subarray(at, at + 77);
}

async function passThrough(hashing: Hashing): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of hashing.pass(inPieces())) pieces.push(Buffer.from(piece));
  assert.deepEqual(Buffer.concat(pieces), octets);
}

/** Each way to hash the octets. */
function ways(checksums: readonly ExpectedChecksum[], hasMd5Etag = true) {
  const asked = { checksums, hasMd5Etag };
  const piecewise = (begin: () => Hashing) => async () => {
    const hashing = begin();
    await passThrough(hashing);
    return hashing.finish();
  };
  return [
    piecewise(() => hashHere(asked)),
    piecewise(() => hashOnThread(thread, asked)),
    async () => hashWhole(octets, asked),
  ];
}

for (const algorithm of ALGORITHMS) {
  const others = algorithm === "md5" ? null : { [algorithm]: digest(algorithm) };

  test(`${algorithm} is checked and given beside MD5, of a whole as of pieces`, async () => {
    const value = digest(algorithm).toUpperCase();
    for (const way of ways([{ algorithm, value }])) {
      assert.deepEqual(await way(), { md5: digest("md5"), checksums: others });
    }
  });

  test(`a ${algorithm} that differs is told with both values`, async () => {
    for (const way of ways([{ algorithm, value: "ab" }])) {
      await assert.rejects(way, (error: Error) => {
        assert.ok(is("bad-digest")(error));
        const name = algorithm.toUpperCase().replace(/SHA|CRC/, "$&-");
        assert.equal(
          error.message,
          `The ${name} checksum you specified did not match what we received.\nYou provided a ${name} checksum with value: ab\nActual ${name} was: ${digest(algorithm)}`,
        );
        return true;
      });
    }
  });
}

test("several checksums are told apart: what is only to be checked is not kept", async () => {
  const sha256 = digest("sha256");
  const checksums: ExpectedChecksum[] = [
    { algorithm: "sha256", value: sha256, isKept: false },
    { algorithm: "md5", value: digest("md5"), isKept: false },
    { algorithm: "crc32" },
    { algorithm: "sha1", value: () => digest("sha1") },
    { algorithm: "sha512", value: () => null },
  ];
  const kept = { crc32: digest("crc32"), sha1: digest("sha1"), sha512: digest("sha512") };
  for (const way of ways(checksums)) {
    assert.deepEqual(await way(), { md5: digest("md5"), checksums: kept });
  }
  const wrong = { algorithm: "sha256", value: "00" } as const;
  for (const isKept of [true, false]) {
    for (const way of ways([
      { algorithm: "sha256", value: sha256 },
      { ...wrong, isKept },
    ])) {
      await assert.rejects(way, { kind: "bad-digest", algorithm: "sha256", isKept });
    }
  }
});

test("a value that is told at the end is asked for after the last octet", async () => {
  let isOver = false;
  const late = hashHere({
    hasMd5Etag: true,
    checksums: [{ algorithm: "sha1", value: () => (assert.ok(isOver), digest("sha1")) }],
  });
  await passThrough(late);
  isOver = true;
  assert.deepEqual((await late.finish()).checksums, { sha1: digest("sha1") });
});

test("where the etag is no MD5 none is made, unless it is asked for", async () => {
  for (const way of ways([], false)) assert.deepEqual(await way(), { md5: null, checksums: null });
  const md5 = digest("md5");
  for (const way of ways([{ algorithm: "md5", value: md5 }], false)) {
    assert.deepEqual(await way(), { md5: null, checksums: { md5 } });
  }
});

test("the etag of parts is the MD5 of their binary MD5s and their number", () => {
  const parts = [randomBytes(10), randomBytes(20)].map((part) =>
    createHash("md5").update(part).digest(),
  );
  const whole = createHash("md5").update(Buffer.concat(parts)).digest("hex");
  assert.equal(etagOfParts(parts.map((part) => part.toString("hex"))), `${whole}-2`);
  assert.equal(etagOfParts([]), "d41d8cd98f00b204e9800998ecf8427e-0");
});
