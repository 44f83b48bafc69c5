/** Installs Miniflare unless it is there. It is large, and only a bench needs it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Returns its version, or null when it cannot be installed. */
export function installMiniflare(note: (text: string) => void): string | null {
  const wanted = (read("package.json") as { dependencies: { miniflare: string } }).dependencies;
  const isThere = () =>
    read("node_modules/miniflare/package.json")?.["version"] === wanted.miniflare;
  if (!isThere()) {
    note("installing Miniflare (bench/peers/miniflare)");
    spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: HERE, stdio: "inherit" });
  }
  return isThere() ? wanted.miniflare : null;
}

function read(path: string): Record<string, unknown> | null {
  try {
    return JSON.parse(readFileSync(HERE + path, "utf8")) as Record<string, unknown>;
  } catch {
    return null; // Not installed, or half.
  }
}
