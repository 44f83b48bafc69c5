import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { concatenated, Crc, type CrcName, isCrc } from "./crc.ts";

/** By the catalogue of parametrised CRC algorithms: width, polynomial, and the check of "123456789". */
const CATALOGUE: readonly [CrcName, width: number, polynomial: bigint, check: string][] = [
  ["crc32", 32, 0x04c11db7n, "cbf43926"],
  ["crc32c", 32, 0x1edc6f41n, "e3069283"],
  ["crc64nvme", 64, 0xad93d23594c93659n, "ae8b14860a799888"],
];

/** Bit by bit, in the order of the definition. */
function witness(width: number, polynomial: bigint, octets: Uint8Array): string {
  const all = (1n << BigInt(width)) - 1n;
  const top = 1n << BigInt(width - 1);
  let register = all;
  for (const octet of octets) {
    for (let bit = 0; bit < 8; bit++) {
      const isOut = ((register & top) !== 0n) !== (((octet >> bit) & 1) === 1);
      register = ((register << 1n) & all) ^ (isOut ? polynomial : 0n);
    }
  }
  let [reflected, rest] = [0n, register ^ all];
  for (let bit = 0; bit < width; bit++, rest >>= 1n) reflected = (reflected << 1n) | (rest & 1n);
  return reflected.toString(16).padStart(width / 4, "0");
}

function crcOf(name: CrcName, ...pieces: readonly Uint8Array[]): string {
  const crc = new Crc(name);
  for (const piece of pieces) crc.update(piece);
  return crc.digest();
}

for (const [name, width, polynomial, check] of CATALOGUE) {
  test(`${name} has the check value of the catalogue, and its own name`, () => {
    const octets = Buffer.from("123456789");
    assert.equal(crcOf(name, octets), check);
    assert.equal(witness(width, polynomial, octets), check);
    assert.equal(crcOf(name), "0".repeat(width / 4));
    assert.ok(isCrc(name));
  });

  test(`${name} is that of the definition for every length and place in memory`, () => {
    const octets = randomBytes(80);
    for (let length = 0; length < 40; length++) {
      for (let at = 0; at < 9; at++) {
        const some = octets.subarray(at, at + length);
        assert.equal(crcOf(name, some), witness(width, polynomial, some));
      }
    }
  });

  test(`${name} of pieces is that of the whole, however they are cut`, () => {
    const octets = randomBytes(1000);
    const whole = crcOf(name, octets);
    for (const cut of [0, 1, 7, 8, 9, 500, 999, 1000]) {
      const pieces = [octets.subarray(0, cut), octets.subarray(cut)];
      assert.equal(crcOf(name, ...pieces), whole);
      const stretches = pieces.map((piece) => ({ crc: crcOf(name, piece), size: piece.length }));
      assert.equal(concatenated(name, stretches), whole);
    }
    assert.equal(concatenated(name, []), crcOf(name));
    assert.equal(concatenated(name, [{ crc: whole, size: 1000 }]), whole);
  });

  test(`${name} goes on behind a stretch of terabytes as behind its halves`, () => {
    const first = { crc: crcOf(name, Buffer.from("first")), size: 5 };
    let half = { crc: crcOf(name, new Uint8Array(1024)), size: 1024 };
    while (half.size < 5 * 2 ** 40) {
      const both = { crc: concatenated(name, [half, half]), size: 2 * half.size };
      assert.equal(concatenated(name, [first, both]), concatenated(name, [first, half, half]));
      half = both;
    }
  });
}

test("other algorithms are none", () => {
  for (const name of ["md5", "sha256", "toString", ""]) assert.equal(isCrc(name), false);
});
