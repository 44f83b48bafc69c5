/** Writes the types of what is on a script's env. */
import { writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { command, optionalArg } from "../command.ts";
import { fileFault } from "../file-fault.ts";
import { readDevVars } from "../project/dev-vars.ts";
import { envFile } from "./env-types.ts";
import { projectOf, projectOptions } from "./project-options.ts";

export const ENV_FILE = "selvedge-env.d.ts";

export const writeTypes = command({
  path: "types",
  summary: "write the types of what is on the script's env",
  description:
    "Writes a declaration of Env from the project file: vars, buckets, services, and the names of secrets that .dev.vars or .env have; and beside it all that every script sees, so that nothing has to be installed for the types.",
  args: { file: optionalArg(`where to (default: ${ENV_FILE} beside the project file)`) },
  options: projectOptions,
  examples: [["selvedge types && tsc", "after a change of the project file"]],
  offline: true,
  json: "the file that was written",
  async run({ args, options }, context) {
    const project = await projectOf(options, context);
    const secrets = readDevVars(project.folder, project.environment);
    const path =
      args.file === undefined ? join(project.folder, ENV_FILE) : resolve(context.cwd, args.file);
    const content = await envFile(project, Object.keys(secrets.values));
    await writeFile(path, content).catch((error: unknown) => {
      throw fileFault("write", relative(context.cwd, path), error);
    });
    context.out.result({ file: path }, `Wrote ${relative(context.cwd, path)}.`);
  },
});
