/** Lists all settings of a zone. */
import { zoneSettings } from "#zones";
import { endpoint } from "../endpoint.ts";
import { showSetting } from "./shape.ts";

export const listZoneSettings = endpoint({
  method: "GET",
  path: "/zones/:zone_id/settings",
  summary: "List zone settings",
  permission: "zone-settings.read",
  handle: ({ zone }, { now }) =>
    (Object.keys(zoneSettings) as (keyof typeof zoneSettings)[]).map((id) =>
      showSetting(zone, id, now()),
    ),
});
