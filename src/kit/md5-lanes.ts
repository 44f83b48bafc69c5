/**
 * MD5 (RFC 1321) of several bodies side by side. One body's steps wait for each other, so that a processor does little
 * at a time; eight bodies together take not much longer than three of them one after the other.
 */
import assert from "node:assert/strict";
import {
  BLOCK_OCTETS,
  LANES,
  md5Program,
  STATE_WORDS,
  vectorProgram,
  WIDTHS,
} from "./md5-program.ts";

/** Bodies that are hashed at once. */
export const MOST_LANES = WIDTHS.eight;

/** At the start of the memory, for the states of the bodies under way. */
export const STATES_OCTETS = MOST_LANES * STATE_WORDS * 4;

/** Behind the octets of a body's last piece as many must be free: they are padded where they lie. */
export const PADDING_OCTETS = BLOCK_OCTETS;

/** Fewer bodies take longer in lanes than one after the other. */
const LEAST_LANES = 3;

const INITIAL_STATE = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476] as const;
const LENGTH_OCTETS = 8;
const PAGE_OCTETS = 65_536;

/** Memory that threads share, where a program can reach it. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
}

type Run = (states: number, ...blocksAndCount: number[]) => void;

/** Node's types lack it. */
declare const WebAssembly: {
  readonly Memory: new (pages: { initial: number; maximum: number; shared: true }) => SharedMemory;
  readonly Module: new (octets: Uint8Array<ArrayBuffer>) => object;
  readonly validate: (octets: Uint8Array<ArrayBuffer>) => boolean;
  readonly Instance: new (
    module: object,
    imports: { readonly env: { readonly memory: SharedMemory } },
  ) => { readonly exports: Readonly<Record<keyof typeof WIDTHS, Run>> };
};

/** The system gives memory to it where it is first written. */
export function sharedMemory(octets: number): SharedMemory {
  const pages = Math.ceil(octets / PAGE_OCTETS);
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

/** What has been hashed of a body. */
export interface Md5 {
  readonly state: Uint32Array;
  octets: number;
}

/** Octets of a body that lie in the memory, and are yet to be hashed. */
export interface Md5Piece {
  readonly md5: Md5;
  at: number;
  blocks: number;
}

export function beginMd5(): Md5 {
  return { state: Uint32Array.from(INITIAL_STATE), octets: 0 };
}

/** In lower-case hex, when the last piece has been hashed. */
export function md5Digest({ state }: Md5): string {
  return Buffer.from(state.buffer).toString("hex");
}

export class Md5Lanes {
  readonly #octets: Uint8Array;
  readonly #states: Uint32Array;
  readonly #run: Readonly<Record<keyof typeof WIDTHS, Run>>;
  readonly #hasVectors: boolean;

  /** Processors before SSE4.1 have no vectors for it, nor have virtual machines that pass for one of those. */
  constructor(memory: SharedMemory, hasVectors = WebAssembly.validate(vectorProgram())) {
    this.#hasVectors = hasVectors;
    const module = new WebAssembly.Module(md5Program(hasVectors));
    this.#run = new WebAssembly.Instance(module, { env: { memory } }).exports;
    this.#octets = new Uint8Array(memory.buffer);
    this.#states = new Uint32Array(memory.buffer, 0, STATES_OCTETS / 4);
  }

  /** The next piece of a body; all but the last consist of whole blocks. */
  piece(md5: Md5, at: number, length: number, isLast: boolean): Md5Piece {
    md5.octets += length;
    const octets = isLast ? this.#pad(at, length, md5.octets) : length;
    assert(octets % BLOCK_OCTETS === 0, "a piece ends within a block");
    return { md5, at, blocks: octets / BLOCK_OCTETS };
  }

  /** Hashes pieces of different bodies, as far as the shortest goes. */
  advance(pieces: readonly Md5Piece[]): void {
    const blocks = Math.min(...pieces.map((piece) => piece.blocks));
    if (blocks > 0) this.#hash(pieces, blocks);
    for (const piece of pieces) {
      piece.at += blocks * BLOCK_OCTETS;
      piece.blocks -= blocks;
    }
  }

  #hash(pieces: readonly Md5Piece[], blocks: number): void {
    if (!this.#hasVectors || pieces.length < LEAST_LANES) {
      for (const piece of pieces) this.#hashIn(1, [piece], blocks);
    } else {
      this.#hashIn(pieces.length <= WIDTHS.four ? WIDTHS.four : WIDTHS.eight, pieces, blocks);
    }
  }

  #hashIn(width: number, pieces: readonly Md5Piece[], blocks: number): void {
    pieces.forEach(({ md5 }, i) =>
      md5.state.forEach((word, k) => (this.#states[placeOf(width, i, k)] = word)),
    );
    // A lane that nobody needs reads what the first one does, and what it computes is not looked at.
    const from = Array.from({ length: width }, (_, i) => (pieces[i] ?? pieces[0]!).at);
    const { one, four, eight } = this.#run;
    const run = width === WIDTHS.one ? one : width === WIDTHS.four ? four : eight;
    run(0, ...from, blocks);
    pieces.forEach(({ md5 }, i) =>
      md5.state.forEach((_, k) => (md5.state[k] = this.#states[placeOf(width, i, k)]!)),
    );
  }

  /** A one, noughts, and the length in bits, to the end of a block. Returns how many octets there are then. */
  #pad(at: number, length: number, total: number): number {
    const padded = Math.ceil((length + 1 + LENGTH_OCTETS) / BLOCK_OCTETS) * BLOCK_OCTETS;
    this.#octets.fill(0, at + length, at + padded);
    this.#octets[at + length] = 0x80;
    const bits = new DataView(this.#octets.buffer, at + padded - LENGTH_OCTETS);
    bits.setBigUint64(0, BigInt(total) * 8n, true);
    return padded;
  }
}

/** Where a word of a body's state lies: the vectors of a group of lanes follow each other. */
function placeOf(width: number, body: number, word: number): number {
  const lanes = Math.min(width, LANES);
  const group = Math.floor(body / lanes);
  return (group * STATE_WORDS + word) * lanes + (body % lanes);
}
