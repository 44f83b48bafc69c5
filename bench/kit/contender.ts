/** A server under measurement: how it is started, and what is known of it while it runs. */
import type { ChildProcess } from "node:child_process";
import type { Leftovers } from "./leftovers.ts";

export interface Contender {
  readonly name: string;
  start(): Promise<Running>;
}

/** Disposing of it stops the process and waits for its end. */
export interface Running extends AsyncDisposable {
  readonly pid: number;
  /** Where it listens, in the form its ready line has: `http://127.0.0.1:PORT`. */
  readonly address: string;
  /** All that its ready line says, if it has one. */
  readonly ready?: Readonly<Record<string, string>>;
  /** From the spawn to the ready line. */
  readonly startMs: number;
}

export interface LaunchOptions {
  readonly spawn: () => ChildProcess;
  /** The key of the ready line that holds the address. */
  readonly door: string;
  /** Removed once the process has ended. */
  readonly folders?: readonly string[];
  /** How long the ready line may take, for a server that has much to load. */
  readonly timeoutMs?: number;
}

const START_TIMEOUT_MS = 30_000;

/** The end of a server's output is kept for the error message, not the log of a whole run. */
const KEPT_CHARACTERS = 4_000;

/** Starts a process and waits for its line of JSON with `"event":"ready"` on standard output. */
export async function launch(leftovers: Leftovers, options: LaunchOptions): Promise<Running> {
  await using undo = new AsyncDisposableStack(); // If the start fails, stops what was started.
  for (const folder of options.folders ?? []) undo.defer(() => leftovers.remove(folder));
  const began = performance.now();
  const child = options.spawn();
  leftovers.track(child);
  undo.defer(() => leftovers.stop(child));
  const ready = await readyLine(child, options.timeoutMs ?? START_TIMEOUT_MS);
  const startMs = performance.now() - began;
  const address = ready[options.door];
  if (address === undefined) throw new Error(`The ready line names no door "${options.door}"`);
  const all = undo.move();
  return {
    pid: child.pid!,
    address,
    ready,
    startMs,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Goes on reading afterwards: a server whose log nobody reads would stand still. */
function readyLine(
  child: ChildProcess,
  timeoutMs: number,
): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (why: string) => reject(new Error(`Cannot start a server: ${why}\n${output}`));
    const timer = setTimeout(() => fail("no ready line came in time"), timeoutMs);
    const hear = (chunk: Buffer) => {
      output = (output + chunk.subarray(-KEPT_CHARACTERS).toString()).slice(-KEPT_CHARACTERS);
    };
    const look = () => {
      const line = /^.*"event":"ready".*\n/m.exec(output);
      if (line === null) return;
      clearTimeout(timer);
      child.stdout!.off("data", look);
      resolve(JSON.parse(line[0]) as Record<string, string>);
    };
    child.stdout!.on("data", hear).on("data", look);
    child.stderr!.on("data", hear);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      fail(`it ended with ${signal ?? code}`);
    });
  });
}
