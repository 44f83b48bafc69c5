/** Changes a setting of a zone. */
import { z } from "zod";
import { isZoneSetting, ZoneFault } from "#zones";
import { endpoint } from "../endpoint.ts";
import { showSetting } from "./shape.ts";

export const editZoneSetting = endpoint({
  method: "PATCH",
  path: "/zones/:zone_id/settings/:setting",
  summary: "Change a zone setting",
  permission: "zone-settings.edit",
  body: z.object({ value: z.unknown() }),
  handle: async ({ zone, params: { setting }, body }, { zones, now }) => {
    if (!isZoneSetting(setting)) {
      throw new ZoneFault("no-such-setting", `There is no zone setting ${setting}`);
    }
    return showSetting(await zones.editSettings(zone.id, [[setting, body.value]]), setting, now());
  },
});
