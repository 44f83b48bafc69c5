/** Buckets that a script binds and that are not there: made, or told. */
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import { orNull } from "./deployed.ts";
import type { RunnableProject, ScriptAddress } from "./project-options.ts";

interface Wish {
  readonly yes: boolean;
  readonly dryRun: boolean;
}

/** A name that is bound to nothing would fail at the first request: better now. */
export async function mustHaveBuckets(
  project: RunnableProject,
  { account }: ScriptAddress,
  context: CommandContext,
  { yes, dryRun }: Wish,
): Promise<void> {
  const { api, out } = context;
  const path = `${account}/storage/buckets`;
  const names = [...new Set(project.buckets.map(({ bucketName }) => bucketName))];
  const found = await Promise.all(
    names.map((name) => orNull(api.get(`${path}/${encodeURIComponent(name)}`))),
  );
  const missing = names.filter((_, i) => found[i] === null);
  if (missing.length === 0) return;
  const lack = `There is no bucket ${missing.join(", ")}, which the script binds.`;
  if (dryRun || (!yes && !context.isInteractive)) {
    const commands = missing.map((name) => `  selvedge bucket create ${name}`);
    const how = `Nothing was deployed. Make it with:\n${commands.join("\n")}`;
    throw new CliFault("not-found", `${lack} ${how}`);
  }
  if (!yes) await context.confirm(`${lack} Make it?`, "Nothing was deployed.");
  for (const name of missing) {
    await api.post(path, { name });
    out.note(`Made the bucket ${name}.`);
  }
}
