/** The version of a script that serves it. */
import { type Script, ScriptFault, type Scripts, type VersionDetail } from "#scripts";

export interface Current {
  readonly script: Script;
  readonly version: VersionDetail;
}

interface Named {
  readonly account_id: string;
  readonly script_name: string;
}

/** Throws when the script is not there, or nothing of it was ever deployed. */
export async function current(scripts: Scripts, named: Named): Promise<Current> {
  const { script, version } = await currentIfAny(scripts, named);
  if (version !== null) return { script, version };
  throw new ScriptFault("not-found", `No version of ${script.name} is deployed`);
}

export async function currentIfAny(
  scripts: Scripts,
  { account_id, script_name }: Named,
): Promise<{ script: Script; version: VersionDetail | null }> {
  const script = await scripts.get(account_id, script_name);
  const { versionId } = script;
  const version =
    versionId === null ? null : await scripts.version(account_id, script_name, versionId);
  return { script, version };
}
