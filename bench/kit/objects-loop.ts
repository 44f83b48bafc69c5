/** A load on a bucket, from the program that holds it. Runs in Node and in workerd alike. */
import { Histogram } from "./histogram.ts";

export type Action = "get" | "put" | "head" | "list";

export interface LoopJob {
  readonly action: Action;
  /** Of each object. */
  readonly octets: number;
  /** How many there are to read. */
  readonly objects: number;
  /** Puts go to so many keys in turn; the next run goes on behind `first`. */
  readonly putKeys: number;
  readonly first: number;
  readonly concurrency: number;
  readonly seconds: number;
  /** Not the bucket is meant but plain files, in the process that holds it. */
  readonly plain?: boolean;
  /** Each object lies in a folder of its own. */
  readonly inFolders?: boolean;
  /** Of lists. */
  readonly delimiter?: string;
}

export interface LoopResult {
  readonly done: number;
  readonly seconds: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
}

/** What the load needs of a bucket, ours or the original's. */
export interface LoopBucket {
  head(key: string): Promise<{ readonly size: number } | null>;
  get(key: string): Promise<LoopObject | null>;
  put(key: string, value: Uint8Array): Promise<unknown>;
  list(options: { prefix: string; limit: number; delimiter?: string }): Promise<{
    readonly objects: readonly unknown[];
    readonly delimitedPrefixes: readonly unknown[];
  }>;
}
interface LoopObject {
  readonly body: ReadableStream<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface LoopOptions {
  /** Objects up to this size are read whole, larger ones as a stream. */
  readonly wholeOctets: number;
}

/** The longest page there is. */
const PAGE = 1_000;

/** Has `concurrency` operations under way until the time is over. */
export async function runLoop(
  bucket: LoopBucket,
  job: LoopJob,
  options: LoopOptions,
): Promise<LoopResult> {
  const operate = operationOf(bucket, job, options);
  const histogram = new Histogram();
  const began = performance.now();
  const until = began + job.seconds * 1000;
  let next = job.first;
  const work = async () => {
    for (let now = performance.now(); now < until;) {
      await operate(next++);
      const after = performance.now();
      histogram.record((after - now) * 1000);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: job.concurrency }, work));
  return {
    done: histogram.total,
    seconds: (performance.now() - began) / 1000,
    p50Micros: histogram.quantile(0.5),
    p99Micros: histogram.quantile(0.99),
  };
}

/** Stores what the loops read, from the object `first` on and at most so many. */
export async function fill(bucket: LoopBucket, job: LoopJob, most = job.objects): Promise<void> {
  const value = octetsOf(job.octets);
  const end = Math.min(job.objects, job.first + most);
  let next = job.first;
  const work = async () => {
    while (next < end) await bucket.put(readKey(job, next++), value);
  };
  await Promise.all(Array.from({ length: job.concurrency }, work));
}

function operationOf(
  bucket: LoopBucket,
  job: LoopJob,
  options: LoopOptions,
): (n: number) => Promise<void> {
  const { octets, putKeys, delimiter } = job;
  const value = octetsOf(octets);
  // Far apart and each in its turn: a stride that has no divisor in common with the number.
  const key = (n: number) => readKey(job, (n * 7_919) % job.objects);
  const asked = { prefix: prefixOf(job), limit: PAGE, ...(delimiter && { delimiter }) };
  const operations: Record<Action, (n: number) => Promise<void>> = {
    head: async (n) => hold((await bucket.head(key(n)))?.size, octets),
    get: async (n) => hold(await lengthOf(await bucket.get(key(n)), octets, options), octets),
    put: async (n) => void (await bucket.put(`put/${octets}/${n % putKeys}`, value)),
    list: async () => {
      const { objects, delimitedPrefixes } = await bucket.list(asked);
      hold(objects.length + delimitedPrefixes.length, Math.min(PAGE, job.objects));
    },
  };
  return operations[job.action];
}

/** Eight digits: in the order of their numbers. */
function readKey(job: LoopJob, n: number): string {
  const number = String(n).padStart(8, "0");
  return `${prefixOf(job)}${job.inFolders === true ? `${number}/` : ""}${number}.bin`;
}

function prefixOf({ octets, objects }: LoopJob): string {
  return `get/${octets}/${objects}/`;
}

async function lengthOf(
  object: LoopObject | null,
  octets: number,
  { wholeOctets }: LoopOptions,
): Promise<number> {
  if (object === null) return -1;
  if (octets <= wholeOctets) return (await object.arrayBuffer()).byteLength;
  let length = 0;
  for await (const chunk of object.body) length += chunk.length;
  return length;
}

/** A server that answers wrongly is not measured. */
function hold(seen: number | undefined, expected: number): void {
  if (seen !== expected) throw new Error(`The bucket gave ${seen} where ${expected} was due`);
}

/** Not all alike, so that nothing on the way can shrink them. */
function octetsOf(length: number): Uint8Array {
  const octets = new Uint8Array(length);
  let state = 1;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    octets[i] = state >>> 24;
  }
  return octets;
}
