/** Deletes a script from the server. */
import { command, flag, optionalArg, yes } from "../command.ts";
import { SCRIPT_HELP, scriptOf, scriptOptions } from "./project-options.ts";

export const deleteScript = command({
  path: "delete",
  summary: "delete a script from the server",
  description:
    "Deletes a script with its versions, secrets, routes, domains and crons. Buckets that it binds stay as they are.",
  args: { script: optionalArg(SCRIPT_HELP) },
  options: { ...scriptOptions, force: flag("even if other scripts bind it as a service"), yes },
  examples: [["selvedge delete shop", "asks first; --yes does not"]],
  json: "the deleted script's name",
  async run({ args, options }, context) {
    const { path, name } = await scriptOf(options, context, args.script);
    if (!options.yes) {
      await context.api.get(`${path}/script-settings`); // Is it there? Better said before the question.
      const question = `Delete the script ${name}, with all its versions and secrets?`;
      await context.confirm(question, "Nothing was deleted.");
    }
    await context.api.delete(path, { force: options.force });
    context.out.result({ name }, `Deleted the script ${name}.`);
  },
});
