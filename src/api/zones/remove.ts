/** Deletes a zone with all that is in it. */
import { endpoint } from "../endpoint.ts";

export const removeZone = endpoint({
  method: "DELETE",
  path: "/zones/:zone_id",
  summary: "Delete a zone",
  permission: "zone.edit",
  handle: async ({ zone }, { zones }) => {
    await zones.remove(zone.id);
    return { id: zone.id };
  },
});
