/**
 * Installs the client libraries that the system tests use, unless they are there. SDKs are large
 * and only tests and their types need them, so they live in a package of their own.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));

if (!existsSync(`${HERE}node_modules/.package-lock.json`)) {
  console.log("Installing the client libraries that the tests use (test/clients)…");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: HERE, stdio: "inherit" });
  if (status !== 0) {
    console.error(
      "The client libraries cannot be installed; without them the tests prove too little.",
    );
    process.exit(1);
  }
}
