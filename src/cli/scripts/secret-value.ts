/** Where a secret's value comes from: standard input, or a prompt that does not show it. Never the arguments, which
 *  other users of the machine can read. */
import { text as readAll } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { type CommandContext, Interrupted } from "../context.ts";
import { CliFault, wrongUsage } from "../fault.ts";

export async function readSecret(name: string, context: CommandContext): Promise<string> {
  const { stdin, stderr, signal } = context;
  if (stdin.isTTY !== true) return withoutLineEnd(await readAll(stdin), name);
  const prompts = await import("@clack/prompts");
  const answer = await prompts.password({
    message: `The value of ${name}`,
    input: stdin,
    output: stderr,
    signal,
  });
  if (prompts.isCancel(answer)) throw new Interrupted();
  return withoutLineEnd(answer, name);
}

/** `echo value | selvedge secret put NAME` means the value alone. */
function withoutLineEnd(given: string, name: string): string {
  const value = given.replace(/\r?\n$/, "");
  if (value === "") throw wrongUsage(`The value of ${name} is empty: give it on standard input.`);
  return value;
}

/** A JSON object of text, or lines of `NAME=value`; null removes a secret. */
export function parseSecrets(given: string): Record<string, string | null> {
  if (!given.trimStart().startsWith("{")) return { ...parseEnv(given) } as Record<string, string>;
  let parsed: unknown;
  try {
    parsed = JSON.parse(given);
  } catch {
    // The parser's own words would show some of the values.
    throw new CliFault("usage", "The secrets are not JSON that can be read.");
  }
  for (const [name, value] of Object.entries(parsed as object)) {
    if (typeof value === "string" || value === null) continue;
    throw new CliFault("usage", `The secret ${name} must be text, or null to remove it.`);
  }
  return parsed as Record<string, string | null>;
}
