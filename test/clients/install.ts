/**
 * Installs the client libraries that the system tests use, unless they are there. SDKs are large
 * and only tests and their types need them, so they live in a package of their own.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));

const { dependencies } = read("package.json") as { dependencies: Record<string, string> };
const isComplete = Object.entries(dependencies).every(
  ([name, version]) => read(`node_modules/${name}/package.json`)?.["version"] === version,
);
if (!isComplete) {
  console.log("Installing the client libraries that the tests use (test/clients)…");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: HERE, stdio: "inherit" });
  if (status !== 0) {
    console.error(
      "The client libraries cannot be installed; without them the tests prove too little.",
    );
    process.exit(1);
  }
}

function read(path: string): Record<string, unknown> | null {
  try {
    return JSON.parse(readFileSync(HERE + path, "utf8")) as Record<string, unknown>;
  } catch {
    return null; // Not installed, or half.
  }
}
