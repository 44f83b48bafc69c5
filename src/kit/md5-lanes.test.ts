import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import {
  beginMd5,
  md5Digest,
  Md5Lanes,
  type Md5Piece,
  MOST_LANES,
  PADDING_OCTETS,
  sharedMemory,
  STATES_OCTETS,
} from "./md5-lanes.ts";
import { md5Program } from "./md5-program.ts";

const BLOCK = 64;
const MOST_OCTETS = 16 * BLOCK;
const ROOM = MOST_OCTETS + PADDING_OCTETS;

const memory = sharedMemory(STATES_OCTETS + MOST_LANES * ROOM);
const octets = new Uint8Array(memory.buffer);
const lanes = new Md5Lanes(memory);

/** Each body in pieces of whole blocks and a last one; so many bodies at a time, a new one as soon as one ends. */
function digestsOf(
  bodies: readonly (readonly Uint8Array[])[],
  atOnce: number,
  by = lanes,
): string[] {
  const digests: string[] = [];
  const waiting = [...bodies.entries()];
  const free = Array.from({ length: atOnce }, (_, i) => STATES_OCTETS + i * ROOM);
  const running = new Set<() => Md5Piece | null>();
  const begin = ([number, pieces]: [number, readonly Uint8Array[]], at: number) => {
    const md5 = beginMd5();
    let [next, piece] = [0, null as Md5Piece | null];
    const current = () => {
      if (piece !== null && piece.blocks > 0) return piece;
      if (next === pieces.length) {
        digests[number] = md5Digest(md5);
        running.delete(current);
        free.push(at);
        return null;
      }
      const some = pieces[next++]!;
      octets.set(some, at);
      octets.fill(0xaa, at + some.length, at + ROOM); // What somebody else has left there.
      return (piece = by.piece(md5, at, some.length, next === pieces.length));
    };
    running.add(current);
  };
  while (waiting.length > 0 || running.size > 0) {
    while (waiting.length > 0 && free.length > 0) begin(waiting.shift()!, free.pop()!);
    const pieces = [...running].map((current) => current()).filter((piece) => piece !== null);
    if (pieces.length > 0) by.advance(pieces);
  }
  return digests;
}

/** Bodies whose last piece ends at every kind of place in a block. */
const lastLengths = fc.oneof(
  fc.integer({ min: 0, max: MOST_OCTETS }),
  fc.constantFrom(0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, MOST_OCTETS),
);
const bodies = fc.record({
  blocks: fc.array(fc.integer({ min: 0, max: MOST_OCTETS / BLOCK }), { maxLength: 5 }),
  last: lastLengths,
});

test("bodies that begin and end at any time each have their own MD5", () => {
  fc.assert(
    fc.property(
      fc.array(bodies, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: MOST_LANES }),
      (shapes, atOnce) => {
        const pieces = shapes.map(({ blocks, last }) => [
          ...blocks.map((count) => randomBytes(count * BLOCK)),
          randomBytes(last),
        ]);
        assert.deepEqual(
          digestsOf(pieces, atOnce),
          pieces.map((body) => hash("md5", Buffer.concat(body))),
        );
      },
    ),
    { numRuns: 300 },
  );
});

test("every length up to three blocks is padded as it must be", () => {
  const all = Array.from({ length: 3 * BLOCK + 1 }, (_, length) => [randomBytes(length)]);
  for (let atOnce = 1; atOnce <= MOST_LANES; atOnce++) {
    assert.deepEqual(
      digestsOf(all, atOnce),
      all.map(([body]) => hash("md5", body!)),
    );
  }
});

test("a processor without vectors gets the same digests", () => {
  const plain = new Md5Lanes(memory, false);
  const all = Array.from({ length: 20 }, (_, i) => [randomBytes((i % 4) * BLOCK), randomBytes(i)]);
  for (let atOnce = 1; atOnce <= MOST_LANES; atOnce++) {
    assert.deepEqual(
      digestsOf(all, atOnce, plain),
      all.map((pieces) => hash("md5", Buffer.concat(pieces))),
    );
  }
});

test("a program for a processor without vectors has none", () => {
  const [vectors, plain] = [md5Program(true), md5Program(false)].map((octets) =>
    Buffer.from(octets).toString("latin1"),
  );
  for (const name of ["four", "eight"]) {
    assert.ok(vectors!.includes(name));
    assert.ok(!plain!.includes(name));
  }
  assert.ok(plain!.includes("one"));
});

test("the length of more than half a gibibyte is told in all its bits", () => {
  const md5 = beginMd5();
  const expected = beginMd5();
  // Padding is all that depends on the length: the block of an empty end, by hand.
  md5.octets = 5 * 1024 ** 3;
  lanes.advance([lanes.piece(md5, STATES_OCTETS, 0, true)]);
  const block = Buffer.alloc(BLOCK);
  block[0] = 0x80;
  block.writeBigUInt64LE(8n * 5n * 1024n ** 3n, BLOCK - 8);
  octets.set(block, STATES_OCTETS);
  lanes.advance([lanes.piece(expected, STATES_OCTETS, BLOCK, false)]);
  assert.equal(md5Digest(md5), md5Digest(expected));
});

test("a piece within a body that ends within a block is a mistake", () => {
  assert.throws(() => lanes.piece(beginMd5(), STATES_OCTETS, 65, false), /ends within a block/);
});
