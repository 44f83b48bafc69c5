/** How commands of a project find it, and the script that they are about. */
import { basename } from "node:path";
import { text } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { wrongUsage } from "../fault.ts";
import type { Project } from "../project/project.ts";

export const projectOptions = {
  config: text("FILE", "the project file (default: selvedge.toml here or above)", "-c"),
  env: text("NAME", "an environment of the project file", "-e"),
};

export const SCRIPT_HELP = "the script (default: the project file's)";

/** For commands that need only the script's name, and so no project. */
export const scriptOptions = {
  name: text("SCRIPT", SCRIPT_HELP),
  ...projectOptions,
};

interface Given {
  readonly config: string | undefined;
  readonly env: string | undefined;
}

export async function projectOf(options: Given, context: CommandContext): Promise<Project> {
  const { config = null, env: environment = null } = options;
  const { openProject } = await import("../project/find.ts"); // Many commands need no project.
  const project = openProject({ cwd: context.cwd, config, environment });
  for (const warning of project.warnings) context.out.warn(warning);
  return project;
}

/** A project that is to run must have these. */
export interface RunnableProject extends Project {
  readonly name: string;
  readonly compatibilityDate: string;
}

export function runnable(project: Project): RunnableProject {
  const { name, compatibilityDate } = project;
  const file = basename(project.path);
  if (name === null) throw wrongUsage(`${file}: name: is missing: what the script is called.`);
  if (compatibilityDate === null) {
    throw wrongUsage(
      `${file}: compatibility_date: is missing: the day as of which the runtime shall behave, such as "2026-11-01".`,
    );
  }
  return { ...project, name, compatibilityDate };
}

export interface ScriptAddress {
  readonly name: string;
  /** `/accounts/…` */
  readonly account: string;
  /** `/accounts/…/workers/scripts/NAME` */
  readonly path: string;
}

/** By the name that was given, with `--name` or as an argument; else the project's. */
export async function scriptOf(
  options: Given & { readonly name: string | undefined },
  context: CommandContext,
  argument?: string,
): Promise<ScriptAddress> {
  const { config = null, env: environment = null } = options;
  const name = argument ?? options.name;
  if (options.name !== undefined && options.name !== name) {
    throw wrongUsage(`Which script, ${argument} or ${options.name}? Name it once.`);
  }
  if (name !== undefined) return addressOf(name, null, context);
  const { findProject } = await import("../project/find.ts");
  const project = findProject({ cwd: context.cwd, config, environment });
  if (project !== null && project.name !== null) return addressOf(project.name, project, context);
  throw wrongUsage("Which script? Name it with --name, or run this in its project.");
}

export async function addressOf(
  name: string,
  project: Project | null,
  context: CommandContext,
): Promise<ScriptAddress> {
  const account = `/accounts/${await accountOf(project, context)}`;
  return { name, account, path: `${account}/workers/scripts/${encodeURIComponent(name)}` };
}

/** The project may say which account; a file of the original's names one of theirs. */
async function accountOf(project: Project | null, context: CommandContext): Promise<string> {
  const isOurs = project !== null && !basename(project.path).startsWith("wrangler.");
  if (isOurs && project.accountId !== null && !context.accountIsNamed) return project.accountId;
  return (await context.account()).id;
}
