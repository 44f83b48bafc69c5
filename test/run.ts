/**
 * Runs all the tests: `npm test`, or `npm test -- 'src/db/*.test.ts'` for some of them. Starts the one
 * PostgreSQL that they share, and installs the client libraries that the system tests use.
 */
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { SHARED_SERVER, startPostgres } from "./support/postgres.ts";
import { runFiles } from "./support/run-files.ts";

/** Several times what all the tests take on two slow cores. */
const PATIENCE_MS = 75 * 60_000;
/** Several times what any one test takes on a machine that is busy with others. */
const TEST_TIMEOUT_MS = 4 * 60_000;
/** Files at a time: some wait for clocks and disks, so that there is work for more than the processors. */
const TOGETHER = availableParallelism() + 1;

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const asked = process.argv.slice(2);
const files = globSync(asked.length === 0 ? "{src,test,bench}/**/*.test.ts" : asked, {
  cwd: ROOT,
  exclude: ["**/node_modules/**"],
});
if (files.length === 0) {
  console.error(`There are no tests in ${asked.join(" ")}`);
  process.exit(2);
}
await import("./clients/install.ts");
await using postgres = await startPostgres();
process.env[SHARED_SERVER] = postgres.socketDir;
const over = new AbortController();
// Not `forceExit`: it ends a file before all of its results are out.
const late = setTimeout(() => {
  console.error("The tests do not end: something that one of them started still runs.");
  over.abort();
}, PATIENCE_MS);
const isWell = await runFiles(files, {
  cwd: ROOT,
  together: TOGETHER,
  testTimeoutMs: TEST_TIMEOUT_MS,
  signal: over.signal,
});
clearTimeout(late);
process.exitCode = isWell ? 0 : 1;
