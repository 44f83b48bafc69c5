/** Puts declared commands on commander's program: arguments, options and help. */
import { Argument, type Command as Commander, InvalidArgumentError, Option } from "commander";
import type { Command, Option as Declared } from "./command.ts";
import { EXIT_CODES_HELP } from "./fault.ts";

/** What every command takes beside its own. */
export interface CommonOptions {
  readonly json: boolean;
  readonly api?: string;
  readonly account?: string;
  readonly data?: string;
}

export interface Parsed {
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly common: CommonOptions;
}

/** Beyond the first column and its gap, so that help stays readable on narrow terminals, too. */
const EXAMPLE_INDENT = "  ";

export function attach(
  program: Commander,
  groups: Readonly<Record<string, string>>,
  commands: readonly Command[],
  perform: (declared: Command, parsed: Parsed) => Promise<void>,
): void {
  for (const declared of commands) {
    const words = declared.path.split(" ");
    const name = words.pop()!;
    const parent = words.reduce((above, word) => groupOf(above, word, groups), program);
    const made = parent.command(name).summary(declared.summary);
    made.aliases(synonymsOf(declared, commands));
    made.description(declared.description ?? sentence(declared.summary));
    addArguments(made, declared);
    addOptions(made, declared);
    made.addHelpText("after", afterHelp(declared));
    made.action(() => perform(declared, parsedBy(made, declared)));
  }
}

const SHOW = ["info", "view", "show", "head"];
const REMOVE = ["delete", "remove", "rm"];
/** What people try instead of a command's word. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  list: ["ls"],
  info: SHOW,
  view: SHOW,
  show: SHOW,
  head: SHOW,
  status: [...SHOW, "get"],
  on: ["enable"],
  off: ["disable"],
  create: ["add", "new"],
  add: ["create", "new"],
  put: ["add", "set"],
  edit: ["set", "change"],
  delete: REMOVE,
  remove: REMOVE,
};

/** Only those that are no command of their own. */
function synonymsOf({ path }: Command, commands: readonly Command[]): string[] {
  const taken = new Set(commands.map((one) => one.path));
  const [, group = "", word = ""] = /^(.* )?(.*)$/.exec(path)!;
  return (SYNONYMS[word] ?? []).filter((one) => !taken.has(`${group}${one}`));
}

function groupOf(above: Commander, word: string, groups: Readonly<Record<string, string>>) {
  const there = above.commands.find((one) => one.name() === word);
  if (there !== undefined) return there;
  const summary = groups[word]!;
  return above.command(word).summary(summary).description(sentence(summary));
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

function addArguments(made: Commander, { args = {} }: Command): void {
  for (const [key, { help, count }] of Object.entries(args)) {
    const word = `${kebab(key).toUpperCase()}${count === "some" || count === "any" ? "..." : ""}`;
    const isNeeded = count === "one" || count === "some";
    made.addArgument(new Argument(isNeeded ? `<${word}>` : `[${word}]`, help));
  }
}

function addOptions(made: Commander, declared: Command): void {
  for (const [key, option] of Object.entries(declared.options ?? {})) {
    for (const one of optionsOf(key, option)) made.addOption(one);
  }
  // Where nothing is asked it means nothing, but who gives it everywhere shall not be refused.
  if (declared.options?.["yes"] === undefined) made.addOption(new Option("-y, --yes").hideHelp());
  if (declared.json !== undefined) {
    made.option("--json", `print JSON: ${declared.json}`);
  }
  if (declared.offline === true) return;
  const server = (flags: string, help: string) =>
    made.addOption(new Option(flags, help).helpGroup("Which server, as whom:"));
  server("--api <URL>", "the server (default: SELVEDGE_API, else http://127.0.0.1:8700)");
  server("--account <ID>", "the account, by id or name (default: SELVEDGE_ACCOUNT_ID, else yours)");
  server(
    "--data <DIR>",
    "a data folder with credentials.json (default: SELVEDGE_TOKEN, or SELVEDGE_EMAIL and SELVEDGE_KEY, else SELVEDGE_DATA, else ./selvedge-data)",
  );
}

function optionsOf(key: string, declared: Declared<unknown>): Option[] {
  const long = kebab(key);
  const value = declared.placeholder === null ? "" : ` <${declared.placeholder}>`;
  const short = declared.short === undefined ? "" : `${declared.short}, `;
  const made = new Option(`${short}--${long}${value}`, declared.help);
  if (declared.choices !== undefined) made.choices(declared.choices);
  if (declared.fallback !== undefined) made.default(declared.fallback);
  if (declared.repeats === true) {
    made.argParser((text: string, before: unknown) => [...((before as string[]) ?? []), text]);
  } else if (declared.read !== undefined) made.argParser((text: string) => readOr(declared, text));
  const opposite = new Option(`--no-${long}`, `the opposite of --${long}`);
  return declared.negatable === true ? [made, opposite] : [made];
}

function readOr(declared: Declared<unknown>, text: string): unknown {
  try {
    return declared.read!(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function afterHelp({ examples }: Command): string {
  const lines = examples.map(
    ([line, what]) => `${EXAMPLE_INDENT}${line}\n${EXAMPLE_INDENT}    ${what}`,
  );
  return ["", ...(lines.length > 0 ? ["Examples:", ...lines, ""] : []), EXIT_CODES_HELP].join("\n");
}

function parsedBy(made: Commander, declared: Command): Parsed {
  const given = made.opts<Record<string, unknown>>();
  const { json, api, account, data } = given as Partial<CommonOptions>;
  const args = Object.keys(declared.args ?? {}).map((key, i) => [key, made.processedArgs[i]]);
  const options = Object.entries(declared.options ?? {}).map(([key, option]) => [
    key,
    given[key] ?? absent(option),
  ]);
  return {
    args: Object.fromEntries(args) as Parsed["args"],
    options: Object.fromEntries(options) as Parsed["options"],
    common: {
      json: json === true,
      ...(declared.offline !== true && api !== undefined && { api }),
      ...(declared.offline !== true && account !== undefined && { account }),
      ...(declared.offline !== true && data !== undefined && { data }),
    },
  };
}

function absent({ repeats, placeholder, negatable }: Declared<unknown>): unknown {
  if (repeats === true) return [];
  return placeholder === null && negatable !== true ? false : undefined;
}

function kebab(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
