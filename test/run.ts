/**
 * Runs all the tests: `npm test`, or `npm test -- src/db/*.test.ts` for some of them. Starts the one
 * PostgreSQL that they share, and installs the client libraries that the system tests use.
 */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SHARED_SERVER, startPostgres } from "./support/postgres.ts";

/** Several times what all the tests take on two slow cores. */
const PATIENCE_MS = 20 * 60_000;

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const files = process.argv.slice(2);
if (files.length === 0) {
  await import("./clients/install.ts");
  files.push(
    ...globSync("{src,test,bench}/**/*.test.ts", { cwd: ROOT, exclude: ["**/node_modules/**"] }),
  );
}
await using postgres = await startPostgres();
process.exitCode = await runTests(files, postgres.socketDir);

function runTests(paths: readonly string[], socketDir: string): Promise<number> {
  const child = spawn(process.execPath, ["--test", "--test-timeout=120000", ...paths], {
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
