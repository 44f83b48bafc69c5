/** How a large object is cut into parts, and how parts are carried over. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { atMost } from "#kit/at-once.ts";
import type { CommandContext } from "../context.ts";
import type { Progress } from "../progress.ts";
import { visible } from "../table.ts";
import { showSize } from "../units.ts";

const MIB = 1024 * 1024;

/** Of every part but the last. Small enough to hold some in memory and to lose one; the store takes 5 MiB and more. */
const PART_OCTETS = 8 * MIB;
/** The store's own limit. */
const MOST_PARTS = 10_000;

/** Transfers at a time, unless told. */
export const DEFAULT_PARALLEL = 4;
export const MOST_PARALLEL = 64;

/** Pauses before a part is tried again: what a restart of the server takes. */
const RETRY_PAUSES_MS = [300, 1_500, 4_000, 10_000];

/** What transfers share. */
export interface Transfer {
  readonly context: CommandContext;
  readonly parallel: number;
  readonly progress: Progress;
  readonly journals: string;
}

export interface Part {
  /** From 1. */
  readonly number: number;
  readonly offset: number;
  readonly length: number;
}

/** Equal parts, but for the last. */
export function partSize(octets: number): number {
  const least = Math.ceil(octets / MOST_PARTS);
  return Math.max(PART_OCTETS, Math.ceil(least / MIB) * MIB);
}

export function partsOf(octets: number): Part[] {
  const size = partSize(octets);
  return Array.from({ length: Math.ceil(octets / size) }, (_, i) => ({
    number: i + 1,
    offset: i * size,
    length: Math.min(size, octets - i * size),
  }));
}

/** Does the same to each part, a few at a time; begins no more once one has failed. */
export async function eachPart(
  parts: readonly Part[],
  { context, parallel }: Transfer,
  work: (part: Part) => Promise<void>,
): Promise<void> {
  let hasFailed = false;
  await atMost(parallel, parts, async (part) => {
    if (hasFailed) return;
    context.signal.throwIfAborted();
    try {
      await work(part);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  });
}

/** What is said when a transfer fails of which some parts are done. */
export const GOES_ON = "The same command goes on where this one stopped.";

/** Says that an earlier run has done some of it. */
export function tellResumed(
  out: CommandContext["out"],
  key: string,
  size: number,
  done: ReadonlyMap<number, string>,
): void {
  const there = partsOf(size)
    .filter(({ number }) => done.has(number))
    .reduce((sum, { length }) => sum + length, 0);
  if (there === 0) return;
  const how = `${showSize(there)} of ${showSize(size)} are there`;
  out.note(`Going on with ${visible(key)} where an earlier command stopped: ${how}.`);
}

/** Tries again while it is only the way to the server that fails. Only for what may be done twice. */
export async function persistently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (const pause of RETRY_PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      await sleep(pause, null, { signal });
    }
  }
  return work();
}

/** The transport's words, a body that broke off, and the store's code for "not now". */
function isPassing(error: unknown): boolean {
  const { name, message } = error as Error;
  return (
    message.startsWith("The store cannot be reached") ||
    (name === "TypeError" && message === "terminated") ||
    message.endsWith("(10043)")
  );
}

export function md5Of(octets: Uint8Array): string {
  return createHash("md5").update(octets).digest("hex");
}
