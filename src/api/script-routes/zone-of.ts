/** The zone that a route or a domain of a script, or of a bucket, belongs to. */
import { AccountFault, type Accounts, type Identity, type Permission } from "#accounts";
import { type Zone, ZoneFault, type Zones } from "#zones";

/** How a project file names a zone; without a name it is the closest above the hostname. */
export interface ZoneNamed {
  readonly zone_id?: string | null | undefined;
  readonly zone_name?: string | null | undefined;
}

/** Finds zones of one account in which the caller may change what leads to scripts, or otherwhere. */
export async function zoneFinder(
  accountId: string,
  identity: Identity,
  { zones, accounts }: { readonly zones: Zones; readonly accounts: Accounts },
  permission: Permission = "script-routes.edit",
): Promise<(hostname: string, named: ZoneNamed) => Promise<Zone>> {
  const all = await zones.list([accountId]);
  return async (hostname, named) => {
    const zone = closest(all, hostname, named);
    if (zone === null) {
      throw new ZoneFault("no-such-zone", `There is no zone for ${hostname} in this account`);
    }
    const resource = { kind: "zone", zone: zone.id, account: accountId } as const;
    if (await accounts.may(identity, permission, resource)) return zone;
    // The code after which wrangler goes on with the zones one by one.
    throw new AccountFault(
      "forbidden-records",
      `What leads to names of ${zone.name} may not be changed`,
    );
  };
}

function closest(zones: readonly Zone[], hostname: string, named: ZoneNamed): Zone | null {
  const { zone_id, zone_name } = named;
  if (zone_id) return zones.find(({ id }) => id === zone_id) ?? null;
  if (zone_name) return zones.find(({ name }) => name === zone_name.toLowerCase()) ?? null;
  const host = hostname.toLowerCase();
  return zones
    .filter(({ name }) => host === name || host.endsWith(`.${name}`))
    .reduce<Zone | null>(
      (best, zone) => (best && best.name.length > zone.name.length ? best : zone),
      null,
    );
}
