/** Brings an earlier version of a script back. */
import { command, optionalArg, text, yes } from "../command.ts";
import { CliFault } from "../fault.ts";
import { showTime } from "../units.ts";
import type { Deployments } from "./deployed.ts";
import { scriptOf, scriptOptions } from "./project-options.ts";
import { allVersions, findVersion, messageOf, type Version } from "./version.ts";

export const rollbackScript = command({
  path: "rollback",
  summary: "bring an earlier version of a script back",
  description:
    "Deploys an earlier version again: the one that was deployed before the current one, or the one that is named. Its bindings come with it; routes, domains and crons stay as they are.",
  args: { version: optionalArg("its number, its id, or the beginning of that") },
  options: { ...scriptOptions, message: text("TEXT", "kept with the deployment", "-m"), yes },
  examples: [
    ["selvedge rollback", "to what was deployed before; asks first"],
    ["selvedge rollback 3 --yes --message 'the shop was shut'", "to the third version"],
  ],
  json: "the deployment",
  async run({ args, options }, context) {
    const { api, out } = context;
    const { path, name } = await scriptOf(options, context);
    const versions = await allVersions(context, path);
    const { deployments } = await api.get<Deployments>(`${path}/deployments`);
    const current = deployments[0]?.versions[0]?.version_id ?? null;
    const target =
      args.version === undefined
        ? deployedBefore(versions, deployments, current)
        : findVersion(versions, args.version);
    if (target.id === current) {
      throw new CliFault("failed", `${name} runs version ${target.number} already.`);
    }
    out.note(
      `${name} goes to version ${target.number} of ${showTime(target.metadata.created_on)}${quoted(target)}.`,
    );
    if (!options.yes) await context.confirm("Deploy it?", "Nothing was changed.");
    const { message = `Rollback to version ${target.number}` } = options;
    const done = await api.post(`${path}/deployments`, {
      strategy: "percentage",
      versions: [{ version_id: target.id, percentage: 100 }],
      annotations: { "workers/message": message },
    });
    out.result(done, `${name} runs version ${target.number} (${target.id}).`);
  },
});

function deployedBefore(
  versions: readonly Version[],
  deployments: Deployments["deployments"],
  current: string | null,
): Version {
  const known = new Map(versions.map((version) => [version.id, version]));
  for (const { versions: deployed } of deployments) {
    const found = known.get(deployed[0]?.version_id ?? "");
    if (found !== undefined && found.id !== current) return found;
  }
  throw new CliFault(
    "not-found",
    'Nothing else was deployed before. Name a version: "selvedge versions list" shows them.',
  );
}

function quoted(version: Version): string {
  const message = messageOf(version);
  return message === "" ? "" : `, "${message}"`;
}
