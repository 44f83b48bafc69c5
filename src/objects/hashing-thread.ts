/**
 * The thread that hashes large bodies. Octets come in memory that both threads see, and are never copied here. MD5,
 * which every body needs and which takes longest, is computed of several bodies side by side.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import {
  beginMd5,
  type Md5,
  md5Digest,
  Md5Lanes,
  type Md5Piece,
  MOST_LANES,
  type SharedMemory,
} from "#kit/md5-lanes.ts";
import { beginDigest, type Digest } from "./digest.ts";
import { slabAt } from "./hash-slabs.ts";
import type { Algorithm } from "./model.ts";

/** A stretch of a body, in the slab of that number; or that no more of it comes. */
export interface HashRequest {
  readonly body: number;
  readonly algorithms: readonly Algorithm[];
  readonly next: SlabOfBody | "never mind";
}

interface SlabOfBody {
  readonly slab: number;
  readonly length: number;
  readonly isLast: boolean;
}

/** Slabs that are done with; and digests of bodies that have come to their end, in the order of their algorithms. */
export interface HashReply {
  readonly slabs: readonly number[];
  readonly digests: readonly { readonly body: number; readonly values: readonly string[] }[];
}

interface Body {
  readonly number: number;
  readonly algorithms: readonly Algorithm[];
  /** Null where it is not asked for. */
  readonly md5: Md5 | null;
  /** The other algorithms'. */
  readonly others: ReadonlyMap<Algorithm, Digest>;
  /** What MD5 has yet to be computed of. */
  readonly pieces: { readonly slab: number; readonly isLast: boolean; readonly md5: Md5Piece }[];
}

const port = parentPort!;
const { memory } = workerData as { memory: SharedMemory };
const octets = new Uint8Array(memory.buffer);
const lanes = new Md5Lanes(memory);
const bodies = new Map<number, Body>();
/** Those with pieces. */
const waiting = new Set<Body>();
let reply = { slabs: [] as number[], digests: [] as HashReply["digests"][number][] };

port.on("message", (request: HashRequest) => {
  hear(request);
  for (let some = nextBodies(); some.length > 0; some = nextBodies()) hash(some);
  answer();
});

/**
 * Who is hashed next, side by side. A body of which more is to come can wait for others while it has but one piece here:
 * nobody needs its digest yet. One that is alone does not wait.
 */
function nextBodies(): readonly Body[] {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    hear(next.message as HashRequest);
  }
  const hurried = [...waiting].filter(({ pieces }) => pieces.length > 1 || pieces[0]!.isLast);
  const isWorthIt = waiting.size >= Math.min(MOST_LANES, bodies.size);
  if (hurried.length === 0 && !isWorthIt) return [];
  return [...new Set([...hurried, ...waiting])].slice(0, MOST_LANES);
}

function hear({ body: number, algorithms, next }: HashRequest): void {
  const body = bodies.get(number) ?? begin(number, algorithms);
  if (next === "never mind") return forget(body);
  const { slab, length, isLast } = next;
  const at = slabAt(slab);
  for (const other of body.others.values()) other.update(octets.subarray(at, at + length));
  if (body.md5 === null) return done(body, slab, isLast);
  body.pieces.push({ slab, isLast, md5: lanes.piece(body.md5, at, length, isLast) });
  waiting.add(body);
}

function begin(number: number, algorithms: readonly Algorithm[]): Body {
  const others = algorithms.filter((name) => name !== "md5");
  const body: Body = {
    number,
    algorithms,
    md5: algorithms.includes("md5") ? beginMd5() : null,
    others: new Map(others.map((name) => [name, beginDigest(name)])),
    pieces: [],
  };
  bodies.set(number, body);
  return body;
}

function hash(some: readonly Body[]): void {
  lanes.advance(some.map(({ pieces }) => pieces[0]!.md5));
  for (const body of some) {
    const { slab, isLast, md5 } = body.pieces[0]!;
    if (md5.blocks > 0) continue;
    body.pieces.shift();
    waiting.delete(body);
    if (body.pieces.length > 0) waiting.add(body); // Behind the others.
    done(body, slab, isLast);
  }
  answer();
}

function done(body: Body, slab: number, isLast: boolean): void {
  reply.slabs.push(slab);
  if (!isLast) return;
  bodies.delete(body.number);
  const { md5, others } = body;
  const values = body.algorithms.map((name) => others.get(name)?.digest() ?? md5Digest(md5!));
  reply.digests.push({ body: body.number, values });
}

function forget(body: Body): void {
  bodies.delete(body.number);
  waiting.delete(body);
  reply.slabs.push(...body.pieces.map(({ slab }) => slab));
}

function answer(): void {
  if (reply.slabs.length === 0) return;
  port.postMessage(reply satisfies HashReply);
  reply = { slabs: [], digests: [] };
}
