/** Lists the names of a script's secrets. */
import { command, optionalArg } from "../command.ts";
import { SCRIPT_HELP, scriptOf, scriptOptions } from "./project-options.ts";

interface Secret {
  readonly name: string;
  readonly type: string;
}

export const listSecrets = command({
  path: "secret list",
  summary: "list the names of a script's secrets",
  args: { script: optionalArg(SCRIPT_HELP) },
  options: scriptOptions,
  examples: [["selvedge secret list shop", "names only: nobody can read a value back"]],
  json: "one array of secrets",
  async run({ args, options }, context) {
    const { path, name } = await scriptOf(options, context, args.script);
    const secrets = await context.api.get<Secret[]>(`${path}/secrets`);
    const columns = [
      { title: "NAME", show: (secret: Secret) => secret.name, style: "cyan" },
    ] as const;
    context.out.list(secrets, columns, `${name} has no secrets.`);
  },
});
