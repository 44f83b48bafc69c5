/** Shows a setting of a zone. */
import { isZoneSetting, ZoneFault } from "#zones";
import { endpoint } from "../endpoint.ts";
import { showSetting } from "./shape.ts";

export const getZoneSetting = endpoint({
  method: "GET",
  path: "/zones/:zone_id/settings/:setting",
  summary: "Show a zone setting",
  permission: "zone-settings.read",
  handle: ({ zone, params }, { now }) => {
    const { setting } = params;
    if (isZoneSetting(setting)) return showSetting(zone, setting, now());
    throw new ZoneFault("no-such-setting", `There is no zone setting ${setting}`);
  },
});
