/** Changes a zone: paused, type, vanity name servers. */
import { endpoint } from "../endpoint.ts";
import { showZone, zoneInput } from "./shape.ts";

export const editZone = endpoint({
  method: "PATCH",
  path: "/zones/:zone_id",
  summary: "Change a zone",
  permission: "zone.edit",
  body: zoneInput,
  handle: async ({ zone, body }, { accounts, zones, ...parts }) =>
    showZone(await zones.edit(zone.id, body), await accounts.account(zone.accountId), parts),
});
