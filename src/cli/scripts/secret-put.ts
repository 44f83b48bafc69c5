/** Sets a secret of a script. */
import { arg, command } from "../command.ts";
import { scriptOf, scriptOptions } from "./project-options.ts";
import { readSecret } from "./secret-value.ts";

export const putSecret = command({
  path: "secret put",
  summary: "set a secret of a script; its value comes from standard input or a prompt",
  description:
    "Sets a secret, which the script finds as env.NAME from the next request on. The value is read from standard input, or asked for without being shown.",
  args: { secret: arg("its name on env") },
  options: scriptOptions,
  examples: [
    ["selvedge secret put API_KEY", "asks for the value"],
    ["selvedge secret put API_KEY < key.txt", "the file's content, without the line end"],
  ],
  json: "the secret's name",
  async run({ args, options }, context) {
    const { path, name } = await scriptOf(options, context);
    const text = await readSecret(args.secret, context);
    await context.api.put(`${path}/secrets`, { name: args.secret, text, type: "secret_text" });
    context.out.result({ name: args.secret }, `Set the secret ${args.secret} of ${name}.`);
  },
});
