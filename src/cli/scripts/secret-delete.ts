/** Removes a secret of a script. */
import { arg, command, yes } from "../command.ts";
import { scriptOf, scriptOptions } from "./project-options.ts";

export const deleteSecret = command({
  path: "secret delete",
  summary: "remove a secret of a script",
  args: { secret: arg("its name") },
  options: { ...scriptOptions, yes },
  examples: [["selvedge secret delete API_KEY", "asks first; --yes does not"]],
  json: "the secret's name",
  async run({ args: { secret }, options }, context) {
    const { path, name } = await scriptOf(options, context);
    const question = `Remove the secret ${secret} of ${name}?`;
    if (!options.yes) await context.confirm(question, "Nothing was removed.");
    await context.api.delete(`${path}/secrets/${encodeURIComponent(secret)}`, {
      url_encoded: true,
    });
    context.out.result({ name: secret }, `Removed the secret ${secret} of ${name}.`);
  },
});
