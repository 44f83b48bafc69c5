/** A load generator that is a program of its own: run to its end, with its output and its use of a core. */
import { type ChildProcess, spawn } from "node:child_process";
import { type Cores, pin } from "./cores.ts";
import { cpuSeconds } from "./cpu.ts";
import type { Leftovers } from "./leftovers.ts";

export interface LoadProgram {
  readonly program: string;
  readonly args: readonly string[];
  /** How long it should take; with much more than that it is given up. */
  readonly seconds: number;
}

export interface LoadOutput {
  readonly output: string;
  /** The program's CPU time by the clock's. */
  readonly loadShare: number;
}

const GRACE_MS = 15_000;

/** How often its CPU time is read: what is read last, before it ends, counts. */
const LOOK_MS = 50;

export async function runLoadProgram(
  leftovers: Leftovers,
  cores: Cores | null,
  { program, args, seconds }: LoadProgram,
): Promise<LoadOutput> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  leftovers.track(child);
  try {
    if (cores !== null && child.pid !== undefined) pin(child.pid, cores.load);
    const share = watchShare(child);
    const output = await outputOf(child, program, seconds * 1000 + GRACE_MS);
    return { output, loadShare: share() };
  } finally {
    await leftovers.stop(child);
  }
}

function outputOf(child: ChildProcess, program: string, withinMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = "";
  const fail = (why: string) => reject(new Error(`${program} failed: ${why}\n${output}`));
  const timer = setTimeout(() => fail("it did not end in time"), withinMs);
  const hear = (chunk: Buffer) => (output += chunk.toString());
  child.stdout!.on("data", hear);
  child.stderr!.on("data", hear);
  child.once("error", (error) => fail(error.message));
  child.once("close", (code, signal) => {
    clearTimeout(timer);
    if (code === 0) resolve(output);
    else fail(`it ended with ${signal ?? code}`);
  });
  return promise;
}

/** Reads CPU time while the process runs; the function returned gives its share of a core. */
function watchShare(child: ChildProcess): () => number {
  const first = { at: performance.now(), cpu: 0 };
  let last = first;
  const timer = setInterval(() => {
    try {
      last = { at: performance.now(), cpu: cpuSeconds(child.pid!) };
    } catch {
      clearInterval(timer); // It has ended.
    }
  }, LOOK_MS);
  child.once("exit", () => clearInterval(timer));
  return () => last.cpu / Math.max(1e-3, (last.at - first.at) / 1000);
}
