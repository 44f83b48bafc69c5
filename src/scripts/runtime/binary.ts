/** Where the workerd of this system lies: a package of its own for each. */
import { createRequire } from "node:module";
import { ScriptFault } from "../fault.ts";

/** As the packages call the processors. */
const PROCESSORS: Readonly<Record<string, string>> = { x64: "64", arm64: "arm64" };

export function workerdPath(platform = process.platform, processor = process.arch): string {
  const system = platform === "win32" ? "windows" : platform;
  const name = `@cloudflare/workerd-${system}-${PROCESSORS[processor] ?? processor}`;
  const file = system === "windows" ? "bin/workerd.exe" : "bin/workerd";
  try {
    return createRequire(import.meta.url).resolve(`${name}/${file}`);
  } catch (cause) {
    const message = `Scripts cannot run here: the package ${name} is not installed`;
    throw new ScriptFault("unavailable", message, { cause });
  }
}
