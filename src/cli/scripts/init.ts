/** Makes a new project: a script that keeps objects in a bucket. */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { command, optionalArg, text, yes } from "../command.ts";
import { type CommandContext, Interrupted } from "../context.ts";
import { CliFault } from "../fault.ts";
import { envFile } from "./env-types.ts";
import { ENV_FILE } from "./types.ts";

/** Beside the sources, in a checkout and in the package. */
const TEMPLATE = fileURLToPath(new URL("../../../templates/script", import.meta.url));

/** Packages cannot hold a file that is called `.gitignore`. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: ".gitignore" };

const NAME_RULE = "1 to 54 of a-z, 0-9 and hyphens, with a letter or digit at both ends";
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,52}[a-z0-9])?$/;

export const initProject = command({
  path: "init",
  summary: "make a new script project",
  description:
    "Makes a small TypeScript project: a script that keeps what is put to it in a bucket. Files that are there already are not touched.",
  args: { dir: optionalArg("the folder (default: this one)") },
  options: { name: text("SCRIPT", "what the script is called (default: after the folder)"), yes },
  examples: [["selvedge init shop && cd shop && selvedge dev", "a project, running"]],
  offline: true,
  json: "the folder, the script's name and the files",
  async run({ args, options }, context) {
    const folder = resolve(context.cwd, args.dir ?? ".");
    const name = await chooseName(options, nameAfter(folder), context);
    const files = await fill({ name, bucket: `${name}-objects` });
    const there = [...files.keys()].filter((path) => existsSync(join(folder, path)));
    if (there.length > 0) {
      const what = `${relative(context.cwd, folder) || "This folder"} has ${there.join(", ")} already`;
      throw new CliFault("failed", `${what}. Nothing was written; choose another folder.`);
    }
    for (const [path, content] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content, { flag: "wx" });
    }
    const made = { folder, name, files: [...files.keys()] };
    context.out.result(made, () => shown(made, relative(context.cwd, folder)));
  },
});

async function chooseName(
  options: { readonly name: string | undefined; readonly yes: boolean },
  suggested: string,
  { stdin, stderr, signal, out }: CommandContext,
): Promise<string> {
  const given = options.name ?? suggested;
  if (!NAME.test(given)) {
    throw new CliFault(
      "usage",
      `"${given}" cannot be a script's name: ${NAME_RULE}. Give one with --name.`,
    );
  }
  const isAsked = options.name === undefined && !options.yes && !out.json;
  if (!isAsked || stdin.isTTY !== true || stderr.isTTY !== true) return given;
  const prompts = await import("@clack/prompts");
  const answer = await prompts.text({
    message: "What is the script called?",
    initialValue: given,
    validate: (value) => (NAME.test(value ?? "") ? undefined : NAME_RULE),
    input: stdin,
    output: stderr,
    signal,
  });
  if (prompts.isCancel(answer)) throw new Interrupted();
  return answer;
}

/** The folder's name with what a script's name cannot have left out. */
function nameAfter(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 54)
    .replaceAll(/^-|-$/g, "");
  return NAME.test(name) ? name : "my-script";
}

async function fill(values: Readonly<Record<string, string>>): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = relative(TEMPLATE, join(entry.parentPath, entry.name));
    const source = await readFile(join(TEMPLATE, path), "utf8");
    files.set(
      RENAMED[path] ?? path,
      source.replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => values[key]!),
    );
  }
  const { readProject } = await import("../project/project.ts");
  const file = { path: "selvedge.toml", text: files.get("selvedge.toml")!, environment: null };
  return files.set(ENV_FILE, await envFile(readProject(file), []));
}

function shown(made: { name: string; files: string[] }, folder: string): string {
  const steps = [
    ...(folder === "" ? [] : [`  cd ${quoted(folder)}`]),
    "  selvedge dev       runs it here and reloads on save",
    `  selvedge bucket create ${made.name}-objects && selvedge deploy`,
    "                     puts it on a server",
  ];
  return `Made the script ${made.name}: ${made.files.join(", ")}\n\nNow:\n${steps.join("\n")}`;
}

/** As a shell takes it for one word. */
function quoted(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
