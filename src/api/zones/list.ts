/** Lists the zones that the caller may see. */
import type { z } from "zod";
import type { Account } from "#accounts";
import type { Zone } from "#zones";
import { endpoint } from "../endpoint.ts";
import { paged } from "../shapes.ts";
import { nameInFilter, textMatches } from "../text-filter.ts";
import { zonesQuery } from "./list-query.ts";
import { showZone } from "./shape.ts";

export const listZones = endpoint({
  method: "GET",
  path: "/zones",
  summary: "List zones",
  permission: "signed-in", // What is listed depends on who asks.
  query: zonesQuery,
  handle: async ({ identity, query }, { accounts, zones, ...parts }) => {
    const owned = await accounts.ownersOf(identity);
    const byId = new Map(owned.map((account) => [account.id, account]));
    const all = await zones.list([...byId.keys()]);
    const seen: Zone[] = [];
    for (const zone of all) {
      const resource = { kind: "zone", zone: zone.id, account: zone.accountId } as const;
      const account = byId.get(zone.accountId)!;
      if (wanted(zone, account, query) && (await accounts.may(identity, "zone.read", resource))) {
        seen.push(zone);
      }
    }
    const key = orderKey(query.order, byId);
    const ordered = seen.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    return paged(ordered, query, (zone) => showZone(zone, byId.get(zone.accountId)!, parts));
  },
});

function wanted(zone: Zone, account: Account, query: z.output<typeof zonesQuery>): boolean {
  const conditions: boolean[] = [];
  // libdns sends the name with its last dot, dnscontrol in the script that people read.
  if (query.name !== undefined) conditions.push(textMatches(zone.name, query.name, nameInFilter));
  if (query.status !== undefined) conditions.push(zone.status === query.status);
  if (query.type !== undefined) conditions.push(query.type.split(",").includes(zone.type));
  else if (zone.type === "internal") return false;
  if (query["account.id"] !== undefined) conditions.push(account.id === query["account.id"]);
  if (query["account.name"] !== undefined) {
    conditions.push(textMatches(account.name, query["account.name"]));
  }
  if (conditions.length === 0) return true;
  return query.match === "any" ? conditions.some(Boolean) : conditions.every(Boolean);
}

function orderKey(order: string, accounts: ReadonlyMap<string, Account>): (zone: Zone) => string {
  if (order === "status") return (zone) => zone.status;
  if (order === "account.id") return (zone) => zone.accountId;
  if (order === "account.name") return (zone) => accounts.get(zone.accountId)!.name;
  return (zone) => zone.name;
}
