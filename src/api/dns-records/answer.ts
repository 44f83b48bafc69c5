/** The answer to a change of records. */
import { isDiscouraged, type Changed, type ZoneRecord } from "#zones";
import { type Identity } from "#accounts";
import { Answer, type ApiMessage } from "../envelope.ts";
import { showChange, showRecord } from "./shape.ts";

/** Who makes a change, as its history names them, and whether for good. */
export function changeOptions(identity: Identity, query: { dry_run: boolean }) {
  return { actor: `${identity.kind}:${identity.id}`, dryRun: query.dry_run };
}

/** The record as it now is; of a dry run, what would change. */
export function recordAnswer(changed: Changed<ZoneRecord>, dryRun: boolean): Answer {
  if (dryRun) return dryRunAnswer(changed);
  const { zone, result } = changed;
  return new Answer(showRecord(zone, result), { messages: advice(result) });
}

export function dryRunAnswer({ zone, changes }: Changed<unknown>): Answer {
  const shown = changes.map((change) => showChange(zone, change));
  return new Answer({ dry_run: true, serial: zone.serial, changes: shown });
}

function advice({ name, type }: ZoneRecord): ApiMessage[] {
  if (!isDiscouraged(name, type)) return [];
  const message = `The name ${name} has an underscore, which is discouraged in host names`;
  return [{ code: 1, message }];
}
