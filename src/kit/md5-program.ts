/**
 * MD5's 64 steps (RFC 1321 §3.4) as a WebAssembly program: for one body in plain words, and for four or eight side by
 * side with a body in each lane of a vector.
 */
import {
  advance,
  type Code,
  further,
  get,
  I32,
  i32,
  type Local,
  repeat,
  set,
  V128,
  vector,
  type WasmFunction,
  wasmModule,
} from "./wasm-code.ts";

/** The program's functions, with how many bodies each takes at once. */
export const WIDTHS = { one: 1, four: 4, eight: 8 } as const;

export const BLOCK_OCTETS = 64;
export const STATE_WORDS = 4;
/** Of a vector. */
export const LANES = 4;
const WORD_OCTETS = 4;
const BLOCK_WORDS = BLOCK_OCTETS / WORD_OCTETS;
const STEPS = 64;

/** What a step computes with: one word, or a vector of them. */
interface Words {
  readonly type: number;
  readonly octets: number;
  readonly load: Code;
  readonly store: Code;
  readonly add: Code;
  readonly and: Code;
  readonly or: Code;
  readonly xor: Code;
  readonly not: Code;
  /** The first, but where the second has ones. */
  readonly andNot: Code;
  readonly constant: (word: number) => Code;
  readonly rotated: (word: Local, bits: number) => Code;
}

const SINGLE: Words = {
  type: I32,
  octets: WORD_OCTETS,
  load: [0x28],
  store: [0x36],
  add: [0x6a],
  and: [0x71],
  or: [0x72],
  xor: [0x73],
  not: [i32(-1), 0x73],
  andNot: [i32(-1), 0x73, 0x71],
  constant: i32,
  rotated: (word, bits) => [get(word), i32(bits), 0x77],
};

const VECTOR: Words = {
  type: V128,
  octets: LANES * WORD_OCTETS,
  load: vector(0),
  store: vector(11),
  add: vector(174),
  and: vector(78),
  or: vector(80),
  xor: vector(81),
  not: vector(77),
  andNot: vector(79),
  constant: (word) => [vector(12), Array<Code>(LANES).fill(octetsOf(word))],
  // Vectors are only shifted.
  rotated: (word, bits) => [
    [get(word), i32(bits), vector(171)],
    [get(word), i32(32 - bits), vector(173)],
    vector(80),
  ],
};
const SHUFFLE = vector(13);

/** By round and step: the RFC's "s". */
const ROTATIONS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

/** Which word of the block a round's steps take: the first's, and how far on the next one is. */
const ORDERS = [
  { first: 0, stride: 1 },
  { first: 1, stride: 5 },
  { first: 5, stride: 3 },
  { first: 0, stride: 7 },
] as const;

/** What a function has of variables for the bodies of one vector, or for its one body. */
interface Group {
  /** Addresses of the blocks. */
  readonly from: readonly Local[];
  readonly state: readonly Local[];
  /** What the state was before the block. */
  readonly before: readonly Local[];
  readonly block: readonly Local[];
  readonly sum: Local;
}

/**
 * Each function takes the address of the states, the addresses of as many blocks as it is wide, and how many blocks
 * follow each other there. In a group of states the first words of all come first, then the second ones. Without
 * vectors there is only the function for one body.
 */
export function md5Program(hasVectors: boolean): Uint8Array<ArrayBuffer> {
  const widths = Object.entries(WIDTHS).filter(([, width]) => width === 1 || hasVectors);
  return wasmModule(widths.map(([name, width]) => hashing(name, width)));
}

/** The least program with a vector: it is valid where there are some. */
export function vectorProgram(): Uint8Array<ArrayBuffer> {
  const instructions = [get(0), get(0), VECTOR.add, set(0)];
  const probe = { name: "", argumentCount: 0, variableType: V128, variableCount: 1, instructions };
  return wasmModule([probe]);
}

/** The groups' steps take turns: each needs its own last result, and while it waits the processor does another's. */
function hashing(name: string, width: number): WasmFunction {
  const [words, lanes] = width === 1 ? [SINGLE, 1] : [VECTOR, LANES];
  const argumentCount = 1 + width + 1;
  const blockCount = argumentCount - 1;
  let next = argumentCount;
  const variables = (count: number) => Array.from({ length: count }, () => next++);
  const groups = Array.from({ length: width / lanes }, (_, i): Group => {
    const from = Array.from({ length: lanes }, (_, lane) => 1 + i * lanes + lane);
    const [state, before] = [variables(STATE_WORDS), variables(STATE_WORDS)];
    return { from, state, before, block: variables(BLOCK_WORDS), sum: next++ };
  });
  const states = groups.flatMap(({ state }) => state);
  const place = (i: number) => further(i * words.octets);
  const eachBlock = [
    groups.map(lanes === 1 ? loaded : transposed),
    groups.map(({ state, before }) => state.map((word, i) => [get(word), set(before[i]!)])),
    Array.from({ length: STEPS }, (_, i) => groups.map((group) => step(words, group, i))),
    groups.map(({ state, before }) =>
      state.map((word, i) => [get(word), get(before[i]!), words.add, set(word)]),
    ),
    groups.map(({ from }) => from.map((address) => advance(address, BLOCK_OCTETS))),
  ];
  const instructions = [
    states.map((word, i) => [get(0), words.load, place(i), set(word)]),
    repeat(blockCount, eachBlock),
    states.map((word, i) => [get(0), get(word), words.store, place(i)]),
  ];
  const variableCount = next - argumentCount;
  return { name, argumentCount, variableType: words.type, variableCount, instructions };
}

function loaded({ from, block }: Group): Code {
  return block.map((word, i) => loadedFrom(SINGLE, from[0]!, i, word));
}

function loadedFrom({ load }: Words, address: Local, word: number, into: Local): Code {
  return [get(address), load, further(word * WORD_OCTETS), set(into)];
}

/** Four words of each body are loaded as they lie, then turned so that each vector has one of every body. */
function transposed({ from, block, before }: Group): Code {
  const [abLow, abHigh, cdLow, cdHigh] = before as Four; // They hold nothing yet.
  return [0, 4, 8, 12].map((word) => {
    const [a, b, c, d] = block.slice(word, word + LANES) as Four;
    return [
      [a, b, c, d].map((into, lane) => loadedFrom(VECTOR, from[lane]!, word, into)),
      [shuffled(a, b, [0, 4, 1, 5], abLow), shuffled(a, b, [2, 6, 3, 7], abHigh)],
      [shuffled(c, d, [0, 4, 1, 5], cdLow), shuffled(c, d, [2, 6, 3, 7], cdHigh)],
      [shuffled(abLow, cdLow, [0, 1, 4, 5], a), shuffled(abLow, cdLow, [2, 3, 6, 7], b)],
      [shuffled(abHigh, cdHigh, [0, 1, 4, 5], c), shuffled(abHigh, cdHigh, [2, 3, 6, 7], d)],
    ];
  });
}

type Four = [Local, Local, Local, Local];

/** Picks words out of two vectors; the other's are counted on from the one's. */
function shuffled(one: Local, other: Local, picked: readonly number[], into: Local): Code {
  const octets = picked.map((word) => [0, 1, 2, 3].map((i) => word * WORD_OCTETS + i));
  return [get(one), get(other), SHUFFLE, octets, set(into)];
}

/** a = b + rotated(a + mixed(b, c, d) + word + sine). The four change their roles with each step. */
function step(words: Words, { state, block, sum }: Group, i: number): Code {
  const { add, constant, rotated } = words;
  const [a, b, c, d] = state.map((_, role) => state[(role + STEPS - i) % STATE_WORDS]!) as Four;
  const round = Math.floor(i / BLOCK_WORDS);
  const { first, stride } = ORDERS[round]!;
  const word = block[(first + i * stride) % BLOCK_WORDS]!;
  const sine = Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32);
  return [
    [get(a), get(word), add, constant(sine), add, plusMixed(words, round, b, c, d), set(sum)],
    [rotated(sum, ROTATIONS[round]![i % STATE_WORDS]!), get(b), add, set(a)],
  ];
}

/** Adds the RFC's F, G, H or I to the sum so far. */
function plusMixed(words: Words, round: number, b: Local, c: Local, d: Local): Code {
  const { add, and, or, xor, not, andNot } = words;
  switch (round) {
    case 0: // c's bits where b has ones, else d's.
      return [get(c), get(d), xor, get(b), and, get(d), xor, add];
    case 1: // b's where d has ones, else c's; those first, since b is the last to be known.
      return [get(c), get(d), andNot, add, get(b), get(d), and, add];
    case 2:
      return [get(c), get(d), xor, get(b), xor, add];
    default:
      return [get(d), not, get(b), or, get(c), xor, add];
  }
}

function octetsOf(word: number): Code {
  return [word, word >>> 8, word >>> 16, word >>> 24].map((octet) => octet & 0xff);
}
