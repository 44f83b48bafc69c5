/**
 * Runs all the tests: `npm test`, or `npm test -- src/db/*.test.ts` for some of them. Starts the one
 * PostgreSQL that they share, and installs the client libraries that the system tests use.
 */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { SHARED_SERVER, startPostgres } from "./support/postgres.ts";

/** Several times what all the tests take on two slow cores. */
const PATIENCE_MS = 40 * 60_000;
/** Several times what any one test takes on a machine that is busy with others. */
const TEST_TIMEOUT_MS = 4 * 60_000;
/** Files at a time: some wait for clocks and disks, so that there is work for more than the processors. */
const TOGETHER = availableParallelism() + 1;

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const files = process.argv.slice(2);
await import("./clients/install.ts");
if (files.length === 0) {
  files.push(
    ...globSync("{src,test,bench}/**/*.test.ts", { cwd: ROOT, exclude: ["**/node_modules/**"] }),
  );
}
await using postgres = await startPostgres();
process.exitCode = await runTests(files, postgres.socketDir);

function runTests(paths: readonly string[], socketDir: string): Promise<number> {
  const limits = [`--test-timeout=${TEST_TIMEOUT_MS}`, `--test-concurrency=${TOGETHER}`];
  const child = spawn(process.execPath, ["--test", ...limits, ...paths], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, [SHARED_SERVER]: socketDir },
  });
  // Not --test-force-exit: it ends a file before all of its results are out.
  const late = setTimeout(() => {
    console.error("The tests do not end: something that one of them started still runs.");
    child.kill();
  }, PATIENCE_MS);
  return new Promise((resolve) => {
    child.on("exit", (code) => {
      clearTimeout(late);
      resolve(code ?? 1);
    });
  });
}
