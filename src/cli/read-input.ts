/** A file that the user has named; `-` is standard input. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import type { CommandContext } from "./context.ts";
import { fileFault } from "./file-fault.ts";

export async function readInput(name: string, { stdin, cwd }: CommandContext): Promise<Uint8Array> {
  if (name === "-") return buffer(stdin);
  try {
    return await readFile(resolve(cwd, name));
  } catch (error) {
    throw fileFault("read", name, error);
  }
}
