/** What every edge script sees, as text that stands by itself: the types of the package, put into one file. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";

const SCRIPT = new URL("../../../types/script.d.ts", import.meta.url);
/** Sources in a checkout, declarations in the package. */
const BUCKETS = ["types.ts", "types.d.ts"].map(
  (name) => new URL(`../../binding/${name}`, import.meta.url),
);

export async function ambientTypes(): Promise<string> {
  const [script, buckets] = await Promise.all([
    readFile(SCRIPT, "utf8"),
    readFile(BUCKETS.find(existsSync)!, "utf8"),
  ]);
  // The one imports from the other, which as one file are all globals.
  const globals = script.replaceAll(/^type \w+ = import\(.*\n/gm, "").replaceAll(LINTING, "");
  return `${withoutHead(globals)}\n${withoutHead(buckets).replaceAll(/^export (?=interface|type)/gm, "")}`;
}

const LINTING = /^\/\* oxlint-disable .*\n/gm;

/** Their first comments are about files that are not there. */
function withoutHead(text: string): string {
  return text.replace(/^\/\*\*[^]*?\*\/\n+/, "").trimStart();
}
