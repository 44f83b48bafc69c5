/** The answer with records, and to a change of them. */
import { isDiscouraged, type Changed, type Records, type Zone, type ZoneRecord } from "#zones";
import { type Identity } from "#accounts";
import { Answer, type ApiMessage } from "../envelope.ts";
import { showChange, showRecord } from "./shape.ts";

/** Who makes a change, as its history names them, and whether for good. */
export function changeOptions(zone: Zone, identity: Identity, query: { dry_run: boolean }) {
  return { actor: `${identity.kind}:${identity.id}`, dryRun: query.dry_run, seen: zone };
}

/** The records, with what delegations do to them where that is asked for. */
export async function showRecords(
  zone: Zone,
  shown: readonly ZoneRecord[],
  query: { include_shadow_metadata: boolean },
  records: Records,
): Promise<object[]> {
  const shadows = query.include_shadow_metadata ? await records.shadows(zone, shown) : null;
  return shown.map((record) => showRecord(zone, record, shadows?.get(record.id)));
}

/** The record as it now is; of a dry run, what would change. */
export async function recordAnswer(
  changed: Changed<ZoneRecord>,
  query: { dry_run: boolean; include_shadow_metadata: boolean },
  records: Records,
): Promise<Answer> {
  if (query.dry_run) return dryRunAnswer(changed);
  const { zone, result } = changed;
  const [shown] = await showRecords(zone, [result], query, records);
  return new Answer(shown, { messages: advice(result) });
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
