/**
 * Runs test files side by side. What fails there is run once more, alone: a test that passes then has a
 * race that a busy machine brings out. It is told at the end, to be mended, but stops nobody.
 */
import { relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

/** More files than these are a broken change, not a busy machine. */
const MOST_TRIED_AGAIN = 10;

export interface RunLimits {
  readonly cwd: string;
  /** Files at a time. */
  readonly together: number;
  readonly testTimeoutMs: number;
  /** Ends it all. */
  readonly signal?: AbortSignal;
}

/** The names of the tests that failed, by the file that was run. */
type Failures = Map<string, string[]>;

/** Returns whether all is well. */
export async function runFiles(files: readonly string[], limits: RunLimits): Promise<boolean> {
  const failed = await runOnce(files, limits);
  if (failed.size === 0 || files.length === 1 || limits.signal?.aborted) return failed.size === 0;
  if (failed.size > MOST_TRIED_AGAIN) return false;
  console.log(`\n▶ once more, each alone: ${namesOf(failed.keys(), limits)}\n`);
  const still = await runOnce([...failed.keys()], { ...limits, together: 1 });
  const unsteady = [...failed].filter(([file]) => !still.has(file));
  if (unsteady.length > 0) {
    console.log("\n⚠ unsteady, to be mended: these failed beside others and passed alone");
    for (const [file, tests] of unsteady) {
      console.log(`  ${relative(limits.cwd, file)}`);
      for (const test of tests) console.log(`    ✖ ${test}`);
    }
  }
  if (still.size > 0) console.log(`\n✖ failed twice: ${namesOf(still.keys(), limits)}`);
  return still.size === 0;
}

async function runOnce(
  files: readonly string[],
  { cwd, together, testTimeoutMs: timeout, signal }: RunLimits,
): Promise<Failures> {
  const failed: Failures = new Map();
  const events = run({ files, cwd, concurrency: together, timeout, ...(signal && { signal }) });
  events.on("test:fail", ({ entryFile, file, name, details }) => {
    const ran = entryFile ?? file!; // A test may be written in another file than the one that was run.
    const tests = failed.get(ran) ?? [];
    failed.set(ran, tests);
    if (details.type !== "suite") tests.push(name);
  });
  for await (const text of events.compose(spec())) {
    process.stdout.write(text);
  }
  return failed;
}

function namesOf(files: Iterable<string>, { cwd }: RunLimits): string {
  return [...files].map((file) => relative(cwd, file)).join(", ");
}
