/**
 * Runs all the tests: `npm test`, or `npm test -- src/db/*.test.ts` for some of them. Starts the one
 * PostgreSQL that they share, and installs the client libraries that the system tests use.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SHARED_SERVER, startPostgres } from "./support/postgres.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CLIENTS = fileURLToPath(new URL("clients", import.meta.url));

const files = process.argv.slice(2);
if (files.length === 0) {
  installClients();
  files.push(
    ...globSync("{src,test,bench}/**/*.test.ts", { cwd: ROOT, exclude: ["**/node_modules/**"] }),
  );
}
await using postgres = await startPostgres();
process.exitCode = await runTests(files, postgres.socketDir);

/** SDKs are large and only tests use them, so they live in a package of their own. */
function installClients(): void {
  if (existsSync(`${CLIENTS}/node_modules/.package-lock.json`)) return;
  console.log("Installing the client libraries that the tests use (test/clients)…");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts"], {
    cwd: CLIENTS,
    stdio: "inherit",
  });
  if (status !== 0) {
    console.error(
      "The client libraries could not be installed; without them the tests prove too little.",
    );
    process.exit(1);
  }
}

function runTests(paths: readonly string[], socketDir: string): Promise<number> {
  const child = spawn(process.execPath, ["--test", "--test-timeout=120000", ...paths], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, [SHARED_SERVER]: socketDir },
  });
  return new Promise((resolve) => child.on("exit", (code) => resolve(code ?? 1)));
}
