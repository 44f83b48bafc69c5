/** Finds a script's project file: here or in a folder above, or where `--config` says. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CliFault } from "../fault.ts";
import { fileFault } from "../file-fault.ts";
import { type Project, readProject } from "./project.ts";

/** In a folder with several the first counts. The original's names serve projects that came from there. */
const NAMES = ["selvedge", "wrangler"].flatMap((tool) =>
  ["json", "jsonc", "toml"].map((kind) => `${tool}.${kind}`),
);

export interface FindOptions {
  readonly cwd: string;
  /** `--config`. */
  readonly config: string | null;
  /** `--env`. */
  readonly environment: string | null;
}

/** Throws when there is none. */
export function openProject(options: FindOptions): Project {
  const project = findProject(options);
  if (project !== null) return project;
  throw new CliFault(
    "not-found",
    `There is no selvedge.toml in ${options.cwd} or above it. Make a project with "selvedge init", or name its file with --config.`,
  );
}

/** Null when there is no file, and none was named. */
export function findProject({ cwd, config, environment }: FindOptions): Project | null {
  const found = config === null ? search(cwd) : { path: resolve(cwd, config), others: [] };
  if (found === null) return null;
  const project = readProject({ path: found.path, text: readText(found.path), environment });
  const warnings = found.others.map(
    (other) => `${other} lies beside ${found.path} and is not read`,
  );
  return { ...project, warnings: [...warnings, ...project.warnings] };
}

function search(from: string): { path: string; others: string[] } | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const [path, ...others] = NAMES.map((name) => join(folder, name)).filter(existsSync);
    if (path !== undefined)
      return { path, others: others.filter((other) => isSameTool(path, other)) };
    if (folder === dirname(folder)) return null;
  }
}

/** A `wrangler.toml` beside a `selvedge.toml` is of someone who uses both. */
function isSameTool(a: string, b: string): boolean {
  return a.slice(0, a.lastIndexOf(".")) === b.slice(0, b.lastIndexOf("."));
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw fileFault("read", `the project file ${path}`, cause);
  }
}
