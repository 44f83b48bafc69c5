/** Shows a zone. */
import { endpoint } from "../endpoint.ts";
import { showZone } from "./shape.ts";

export const getZone = endpoint({
  method: "GET",
  path: "/zones/:zone_id",
  summary: "Show a zone",
  permission: "zone.read",
  handle: async ({ zone }, { accounts, ...parts }) =>
    showZone(zone, await accounts.account(zone.accountId), parts),
});
