/**
 * Makes what is published: `dist/`, a package whose sources are JavaScript. Node does not strip types
 * inside `node_modules`, so an installed package cannot be the TypeScript that a checkout runs.
 */
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = `${ROOT}dist`;

/** Files and folders that go along as they are. */
const COPIED = ["bin/selvedge.js", "types/script.d.ts", "templates", "README.md", "CHANGELOG.md"];

rmSync(DIST, { recursive: true, force: true });
const compiled = spawnSync(`${ROOT}node_modules/.bin/tsc`, ["--project", "tsconfig.build.json"], {
  cwd: ROOT,
  stdio: "inherit",
});
if (compiled.status !== 0) process.exit(1);
for (const path of COPIED) cpSync(`${ROOT}${path}`, `${DIST}/${path}`, { recursive: true });
const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as Record<string, unknown>;
writeFileSync(`${DIST}/package.json`, `${JSON.stringify(published(manifest), null, 2)}\n`);
console.log("Built dist/; publish it with: npm publish dist");

/** The manifest without what only a checkout needs, its imports and exports pointed at JavaScript. */
function published(checkout: Record<string, unknown>): object {
  const kept = Object.entries(checkout).filter(
    ([name]) => name !== "scripts" && name !== "devDependencies",
  );
  const imports = { "#kit/*.ts": "./src/kit/*.js", "#*": "./src/*/index.js" };
  const exports = {
    "./store": { types: "./src/store.d.ts", default: "./src/store.js" },
    "./script": { types: "./types/script.d.ts" },
    "./package.json": "./package.json",
  };
  return { ...Object.fromEntries(kept), imports, exports };
}
