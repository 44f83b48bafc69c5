/**
 * The DNS record that a script's domain needs: a proxied one, whose answers are the edge's addresses. The
 * original makes an AAAA record of the discard prefix, RFC 6666, and so do we.
 */
import type { Accounts, Identity } from "#accounts";
import type { ScriptDomain } from "#scripts";
import type { Records, Zone, ZoneRecord, Zones } from "#zones";
import { changeOptions } from "../dns-records/answer.ts";
import { recordInTheWay } from "../errors.ts";

const PLACEHOLDER = "100::";
/** By which the record is known again when its domain goes. */
const COMMENT = "Made for a script's domain";
const ADDRESS_TYPES: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME"]);
const FOR_GOOD = { dry_run: false };

/** Records that lead elsewhere; null when the name is free, or proxied already. */
export async function standsInTheWay(
  records: Records,
  zone: Zone,
  hostname: string,
): Promise<readonly ZoneRecord[] | null> {
  const found = await records.at(zone, hostname);
  const addresses = found.filter(({ type }) => ADDRESS_TYPES.has(type));
  return addresses.length === 0 || addresses.some(({ proxied }) => proxied) ? null : addresses;
}

export interface DomainRecordParts {
  readonly records: Records;
  readonly accounts: Accounts;
}

/** Throws when the domain's record would replace others and may not. */
export async function checkDomainRecord(
  { records, accounts }: DomainRecordParts,
  zone: Zone,
  hostname: string,
  identity: Identity,
  overrides: boolean,
): Promise<void> {
  if ((await standsInTheWay(records, zone, hostname)) === null) return;
  if (!overrides) throw recordInTheWay(hostname);
  const resource = { kind: "zone", zone: zone.id, account: zone.accountId } as const;
  await accounts.authorize(identity, "dns.edit", resource);
}

/** Puts the record in place of those that lead elsewhere; nothing where one is proxied already. */
export async function setDomainRecord(
  { records }: DomainRecordParts,
  zone: Zone,
  hostname: string,
  identity: Identity,
): Promise<void> {
  const found = await records.at(zone, hostname);
  if (found.some(({ type, proxied }) => proxied && ADDRESS_TYPES.has(type))) return;
  const others = await standsInTheWay(records, zone, hostname);
  const record = {
    type: "AAAA",
    name: hostname,
    input: { content: PLACEHOLDER },
    proxied: true,
    comment: COMMENT,
  };
  const deletes = (others ?? []).map(({ id }) => id);
  const batch = { deletes, patches: [], puts: [], posts: [record] };
  await records.batch(zone.id, batch, changeOptions(zone, identity, FOR_GOOD));
}

/** Takes away what `setDomainRecord` has made for domains that are gone. */
export async function removeDomainRecords(
  { records, zones }: { readonly records: Records; readonly zones: Zones },
  domains: readonly ScriptDomain[],
  identity: Identity,
): Promise<void> {
  for (const { zoneId, hostname } of domains) {
    const zone = await zones.get(zoneId);
    const found = await records.at(zone, hostname);
    const made = found.find(
      ({ type, content, proxied, extra }) =>
        type === "AAAA" && content === PLACEHOLDER && proxied && extra?.comment === COMMENT,
    );
    if (made === undefined) continue;
    await records.remove(zone.id, made.id, changeOptions(zone, identity, FOR_GOOD));
  }
}
