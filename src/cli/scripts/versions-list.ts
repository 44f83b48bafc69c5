/** Lists the versions of a script, and says which one serves it. */
import { command, optionalArg } from "../command.ts";
import type { Column } from "../table.ts";
import { showTime } from "../units.ts";
import type { Deployments } from "./deployed.ts";
import { SCRIPT_HELP, scriptOf, scriptOptions } from "./project-options.ts";
import { allVersions, madeBy, messageOf, tagOf, type Version } from "./version.ts";

export const listVersions = command({
  path: "versions list",
  summary: "list the versions of a script, newest first",
  args: { script: optionalArg(SCRIPT_HELP) },
  options: scriptOptions,
  examples: [["selvedge versions list shop", "with the one that is deployed marked"]],
  json: "one array of versions",
  async run({ args, options }, context) {
    const { path, name } = await scriptOf(options, context, args.script);
    const versions = await allVersions(context, path);
    const { deployments } = await context.api.get<Deployments>(`${path}/deployments`);
    const deployed = new Set(deployments[0]?.versions.map(({ version_id }) => version_id));
    const columns: Column<Version>[] = [
      { title: "", show: ({ id }) => (deployed.has(id) ? "*" : " "), style: "green" },
      { title: "#", show: ({ number }) => String(number), align: "right" },
      { title: "VERSION", show: ({ id }) => id, style: "cyan" },
      { title: "MADE", show: ({ metadata }) => showTime(metadata.created_on) },
      { title: "BY", show: madeBy },
      { title: "WHO", show: ({ metadata }) => metadata.author_email ?? "", droppable: true },
      { title: "TAG", show: tagOf, flexible: true },
      { title: "MESSAGE", show: messageOf, flexible: true },
    ];
    const marked = versions.map((version) => ({ ...version, deployed: deployed.has(version.id) }));
    context.out.list(marked, columns, `${name} has no versions.`);
  },
});
