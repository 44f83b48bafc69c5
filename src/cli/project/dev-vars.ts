/** Secrets for local runs: `.dev.vars`, or `.env` where there is none; an environment may have its own. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

export interface DevVars {
  /** Files that were read. */
  readonly files: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}

/** As wrangler has it: `.dev.vars.staging` stands in for `.dev.vars`; of `.env` files the later ones win. */
export function readDevVars(folder: string, environment: string | null): DevVars {
  const named = environment === null ? [] : [`.dev.vars.${environment}`];
  const [vars] = present(folder, [...named, ".dev.vars"]);
  const files =
    vars === undefined
      ? present(folder, [
          ".env",
          ".env.local",
          ...(environment === null ? [] : [`.env.${environment}`]),
        ])
      : [vars];
  const values: Record<string, string> = {};
  for (const file of files) Object.assign(values, parseEnv(readFileSync(file, "utf8")));
  return { files, values };
}

function present(folder: string, names: readonly string[]): string[] {
  return names.map((name) => join(folder, name)).filter(existsSync);
}
