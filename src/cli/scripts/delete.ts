/** Deletes a script from the server. */
import { command, flag, optionalArg, yes } from "../command.ts";
import { projectOptions, scriptOf } from "./project-options.ts";

export const deleteScript = command({
  path: "delete",
  summary: "delete a script from the server",
  description:
    "Deletes a script with its versions, secrets, routes, domains and crons. Buckets that it binds stay as they are.",
  args: { script: optionalArg("the script (default: the project file's)") },
  options: { ...projectOptions, force: flag("even if other scripts bind it as a service"), yes },
  examples: [["selvedge delete shop", "asks first; --yes does not"]],
  json: "the deleted script's name",
  async run({ args, options }, context) {
    const { path, name } = await scriptOf({ ...options, name: args.script }, context);
    if (!options.yes) {
      await context.api.get(`${path}/script-settings`); // Is it there? Better said before the question.
      if (
        !(await context.confirm(`Delete the script ${name}, with all its versions and secrets?`))
      ) {
        context.out.note("Nothing was deleted.");
        return;
      }
    }
    await context.api.delete(path, { force: options.force });
    context.out.result({ name }, `Deleted the script ${name}.`);
  },
});
