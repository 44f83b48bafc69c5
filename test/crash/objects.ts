/**
 * Kills a process that writes objects, at random points, and holds what it leaves against what it was promised:
 * `node test/crash/objects.ts [ROUNDS] [SEED]` for the long run; the test suite runs a short one.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chanceFrom } from "../support/chance.ts";
import { until } from "../support/patience.ts";
import { checkEmptied, checkStore } from "./objects-check.ts";
import { Ledger } from "./objects-ledger.ts";
import { type Line, openObjects } from "./objects-work.ts";

const WRITER = fileURLToPath(new URL("objects-writer.ts", import.meta.url));

/** A start takes a good deal less; a kill within it meets the opening of the store. */
const START_MS = 400;
/** What a writer gets done at least, on however slow a disk, and for how long it then goes on. */
const LEAST_DONE = 25;
const MOST_WRITING_MS = 600;

export interface CrashResult {
  readonly kills: number;
  /** Operations that the store had acknowledged. */
  readonly acknowledged: number;
  /** Operations that a kill cut off. */
  readonly inFlight: number;
}

export async function crashObjects(
  rounds: number,
  seed: number,
  onRound?: (round: number, ledger: Ledger) => void,
): Promise<CrashResult> {
  const chance = chanceFrom(seed);
  const ledger = new Ledger();
  const folder = await mkdtemp(join(tmpdir(), "selvedge-crash-"));
  try {
    for (let round = 1; round <= rounds; round++) {
      await writeUntilKilled(folder, round, seed + round, ledger, chance);
      await using opened = await openObjects(folder);
      await checkStore(opened, folder, ledger, chance);
      onRound?.(round, ledger);
    }
    await using opened = await openObjects(folder);
    await checkEmptied(opened, ledger);
  } catch (cause) {
    throw new Error(`The crash test with seed ${seed} failed`, { cause });
  } finally {
    await rm(folder, { recursive: true });
  }
  const { acknowledged, inFlight } = ledger;
  return { kills: rounds, acknowledged, inFlight };
}

async function writeUntilKilled(
  folder: string,
  round: number,
  seed: number,
  ledger: Ledger,
  chance: (limit: number) => number,
): Promise<void> {
  // Numbers of pieces and operations are never used twice.
  const args = [WRITER, folder, String(seed), String(round * 1_000_000)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  let printed = "";
  try {
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    // The first start makes the folder, and each sixth is met while it opens it.
    if (round % 6 === 1) await sleep(chance(START_MS));
    else {
      const done = () => printed.match(/^\{"done":/gm)?.length ?? 0;
      await until(() => done() >= LEAST_DONE || child.exitCode !== null);
      await sleep(chance(MOST_WRITING_MS));
    }
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
  // A line that was cut was not printed.
  for (const line of printed.split("\n").slice(0, -1)) ledger.take(JSON.parse(line) as Line);
  assert.equal(child.signalCode, "SIGKILL", "The writer ended by itself");
  ledger.cut();
}

if (import.meta.main) {
  const [rounds = "60", seed = String(Date.now() % 1_000_000_000)] = process.argv.slice(2);
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1000).toFixed(1);
  const result = await crashObjects(Number(rounds), Number(seed), (round, ledger) => {
    const { acknowledged, inFlight, uploads } = ledger;
    console.log(
      `${seconds()} s: kill ${round}, ${acknowledged} acknowledged, ${inFlight} cut off, ${uploads.size} uploads open`,
    );
  });
  console.log(`seed ${seed}: ${JSON.stringify(result)} in ${seconds()} s`);
}
