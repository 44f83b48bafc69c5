/**
 * The DNS record that the domain of a script or a bucket needs: a proxied one, whose answers are the edge's addresses. The
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

/** Whether a name's records lead elsewhere: it is neither free nor proxied already. */
export async function leadsElsewhere(
  records: Records,
  zone: Zone,
  hostname: string,
): Promise<boolean> {
  const addresses = await addressesAt(records, zone, hostname);
  return addresses.length > 0 && !addresses.some(({ proxied }) => proxied);
}

async function addressesAt(records: Records, zone: Zone, hostname: string): Promise<ZoneRecord[]> {
  const found = await records.at(zone, hostname);
  return found.filter(({ type }) => ADDRESS_TYPES.has(type));
}

export interface DomainRecordParts {
  readonly records: Records;
  readonly accounts: Accounts;
}

export interface DomainRecordOptions {
  /** Records that lead elsewhere may go, if the caller may change them. */
  readonly overrides: boolean;
  /** Sees whether it can be done, and does nothing. */
  readonly dryRun: boolean;
  /** By which the record is known again. */
  readonly comment?: string;
}

/**
 * Makes the domain's record where no proxied one is there already. It never takes the place of others unless it
 * may, also of such that have come since a dry run.
 */
export async function setDomainRecord(
  { records, accounts }: DomainRecordParts,
  zone: Zone,
  hostname: string,
  identity: Identity,
  { overrides, dryRun, comment = COMMENT }: DomainRecordOptions,
): Promise<void> {
  const addresses = await addressesAt(records, zone, hostname);
  if (addresses.some(({ proxied }) => proxied)) return;
  if (addresses.length > 0) {
    if (!overrides) throw recordInTheWay(hostname);
    const resource = { kind: "zone", zone: zone.id, account: zone.accountId } as const;
    await accounts.authorize(identity, "dns.edit", resource);
  }
  const record = {
    type: "AAAA",
    name: hostname,
    input: { content: PLACEHOLDER },
    proxied: true,
    comment,
  };
  const deletes = addresses.map(({ id }) => id);
  const batch = { deletes, patches: [], puts: [], posts: [record] };
  await records.batch(zone.id, batch, changeOptions(zone, identity, { dry_run: dryRun }));
}

/** Takes away what `setDomainRecord` has made for domains that are gone. */
export async function removeDomainRecords(
  { records, zones }: { readonly records: Records; readonly zones: Zones },
  domains: readonly Pick<ScriptDomain, "zoneId" | "hostname">[],
  identity: Identity,
  comment = COMMENT,
): Promise<void> {
  for (const { zoneId, hostname } of domains) {
    const zone = await zones.get(zoneId);
    const found = await records.at(zone, hostname);
    const made = found.find(
      ({ type, content, proxied, extra }) =>
        type === "AAAA" && content === PLACEHOLDER && proxied && extra?.comment === comment,
    );
    if (made === undefined) continue;
    await records.remove(zone.id, made.id, changeOptions(zone, identity, { dry_run: false }));
  }
}
