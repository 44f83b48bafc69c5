/** Changes several settings of a zone, all or none. */
import { z } from "zod";
import type { zoneSettings } from "#zones";
import { endpoint } from "../endpoint.ts";
import { showSetting } from "./shape.ts";

export const editZoneSettings = endpoint({
  method: "PATCH",
  path: "/zones/:zone_id/settings",
  summary: "Change zone settings",
  permission: "zone-settings.edit",
  body: z.object({
    items: z
      .array(z.object({ id: z.string(), value: z.unknown() }))
      .min(1)
      .max(100),
  }),
  handle: async ({ zone, body }, { zones, now }) => {
    const changed = await zones.editSettings(
      zone.id,
      body.items.map(({ id, value }) => [id, value]),
    );
    return body.items.map(({ id }) => showSetting(changed, id as keyof typeof zoneSettings, now()));
  },
});
