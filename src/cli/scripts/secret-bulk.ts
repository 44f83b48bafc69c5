/** Sets many secrets of a script at once. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { command, optionalArg } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { wrongUsage } from "../fault.ts";
import { fileFault } from "../file-fault.ts";
import { scriptOf, scriptOptions } from "./project-options.ts";
import { parseSecrets } from "./secret-value.ts";

export const bulkSecrets = command({
  path: "secret bulk",
  summary: "set many secrets of a script, all or none",
  args: {
    file: optionalArg("JSON of names and values, or NAME=value lines (default: standard input)"),
  },
  options: scriptOptions,
  examples: [
    ["selvedge secret bulk .env.production", "every line of the file"],
    ['echo \'{"A":"1","B":null}\' | selvedge secret bulk', "sets A and removes B"],
  ],
  json: "the names that were set and removed",
  async run({ args, options }, context) {
    const { path, name } = await scriptOf(options, context);
    const given = Object.entries(parseSecrets(await contentOf(args.file, context)));
    if (given.length === 0) throw wrongUsage("There are no secrets in it.");
    const secrets = given.map(([name, text]) => [
      name,
      text === null ? null : { name, text, type: "secret_text" },
    ]);
    await context.api.request("PATCH", `${path}/secrets-bulk`, {
      body: new TextEncoder().encode(
        JSON.stringify({ secrets: Object.fromEntries(secrets) as object }),
      ),
      headers: { "content-type": "application/merge-patch+json" },
    });
    const names = (isSet: boolean) =>
      given.filter(([, text]) => (text !== null) === isSet).map(([name]) => name);
    const done = { set: names(true), removed: names(false) };
    const words = [
      ...(done.set.length > 0 ? [`set ${done.set.join(", ")}`] : []),
      ...(done.removed.length > 0 ? [`removed ${done.removed.join(", ")}`] : []),
    ];
    context.out.result(done, `Secrets of ${name}: ${words.join("; ")}.`);
  },
});

async function contentOf(
  file: string | undefined,
  { stdin, cwd }: CommandContext,
): Promise<string> {
  if (file !== undefined && file !== "-") {
    return readFile(resolve(cwd, file), "utf8").catch((error: unknown) => {
      throw fileFault("read", file, error);
    });
  }
  if (stdin.isTTY === true) throw wrongUsage("Name a file, or give the secrets on standard input.");
  return readAll(stdin);
}
