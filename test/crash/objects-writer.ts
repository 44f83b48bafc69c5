/**
 * The process that the objects' crash test kills: `node objects-writer.ts FOLDER SEED FIRST_NUMBER`. Writes as fast as it
 * can from many sides, and prints what it begins and what the store has acknowledged.
 */
import { writeSync } from "node:fs";
import type { Body } from "#objects";
import { chanceFrom } from "../support/chance.ts";
import {
  fail,
  INLINE_OCTETS,
  KEYS,
  type Line,
  md5Of,
  octetsOf,
  openObjects,
  type Operation,
  type Outcome,
  PART_OCTETS,
  type Piece,
} from "./objects-work.ts";

const WRITERS = 12;
/** Often, so that many kills fall into a sweep. */
const SWEEP_EVERY_MS = 20;

const [folder = "", seed = "1", firstNumber = "0"] = process.argv.slice(2);
const chance = chanceFrom(Number(seed));
const pick = <T>(from: readonly T[]): T => from[chance(from.length)]!;
let lastNumber = Number(firstNumber);

const { store, bucket } = await openObjects(folder);
store.startSweeping({ onError: fail, everyMs: SWEEP_EVERY_MS });
await Promise.all(Array.from({ length: WRITERS }, write));

async function write(): Promise<never> {
  for (;;) {
    const what = chance(100);
    const key = pick(KEYS);
    if (what < 55) await put(key, what < 8);
    else if (what < 75) await remove();
    else if (what < 99) await upload(key);
    else await perform({ kind: "sweep" }, async () => void (await store.sweep()));
  }
}

async function put(key: string, ifAbsent: boolean): Promise<void> {
  const piece = newPiece(sizeOfValue());
  const conditions = { etagDoesNotMatch: [{ type: "wildcard" }] } as const;
  await perform({ kind: "put", key, piece, ifAbsent }, async () => {
    const object = await store.put(bucket, key, bodyOf(piece), ifAbsent ? { conditions } : {});
    return { version: object?.version ?? null, ...(object && { etag: object.etag }) };
  });
}

async function remove(): Promise<void> {
  const keys = Array.from({ length: chance(4) === 0 ? 1 + chance(8) : 1 }, () => pick(KEYS));
  await perform({ kind: "delete", keys }, () => store.delete(bucket, keys));
}

async function upload(key: string): Promise<void> {
  const { uploadId } = await perform({ kind: "create", key }, () =>
    store.createUpload(bucket, key),
  );
  const size = PART_OCTETS + chance(3) * 90_000;
  const sizes = [...Array.from({ length: chance(4) }, () => size), 1 + chance(size)];
  const part = async (size: number, i: number): Promise<Piece> => {
    const piece = newPiece(size);
    const operation = { kind: "part", uploadId, partNumber: i + 1, piece } as const;
    await perform(operation, async () => {
      const { etag } = await store.uploadPart(bucket, key, uploadId, i + 1, bodyOf(piece));
      return { etag };
    });
    return piece;
  };
  const pieces = await Promise.all(sizes.map(part));
  // Another attempt at a part, as of a client that has lost the answer.
  if (chance(4) === 0) pieces[0] = await part(sizes[0]!, 0);
  const end = chance(10);
  if (end < 6) {
    const parts = pieces.map((piece, i) => ({ partNumber: i + 1, etag: md5Of(piece) }));
    await perform({ kind: "complete", key, uploadId, pieces }, async () => {
      const options = { evenParts: true };
      return (await store.completeUpload(bucket, key, uploadId, parts, options))!;
    });
  } else if (end < 8) {
    await perform({ kind: "abort", uploadId }, () => store.abortUpload(bucket, key, uploadId));
  }
}

/** Nothing, a little, about as much as fits into a row, and several writes' worth. */
function sizeOfValue(): number {
  const kind = chance(10);
  if (kind === 0) return chance(2);
  if (kind < 5) return chance(3_000);
  if (kind < 7) return INLINE_OCTETS - 2 + chance(5);
  return kind < 9 ? chance(400_000) : chance(1_500_000);
}

function newPiece(size: number): Piece {
  return { number: ++lastNumber, size };
}

/** Half of them whole, half of them in pieces. */
function bodyOf(piece: Piece): Uint8Array | Body {
  const octets = octetsOf(piece);
  return chance(2) === 0 ? octets : inChunks(octets);
}

async function* inChunks(octets: Uint8Array): Body {
  for (let at = 0; at < octets.length; at += 50_000) yield octets.subarray(at, at + 50_000);
}

async function perform<T extends Outcome | void>(
  operation: Operation,
  work: () => Promise<T>,
): Promise<T> {
  const number = ++lastNumber;
  print({ begin: number, operation });
  try {
    const result = await work();
    const { version, etag, uploadId }: Outcome = result ?? {};
    print({ done: number, outcome: { version, etag, uploadId } as Outcome });
    return result;
  } catch (error) {
    print({ failed: number, message: String((error as Error).stack) });
    throw error;
  }
}

/** At once: what was printed must not die with the process. */
function print(line: Line): void {
  const octets = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < octets.length;) at += writeSync(1, octets, at);
}
