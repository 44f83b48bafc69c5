/** Makes a zone active. Whoever may do this owns the platform's word for it. */
import { endpoint } from "../endpoint.ts";

export const checkActivation = endpoint({
  method: "PUT",
  path: "/zones/:zone_id/activation_check",
  summary: "Activate a zone",
  permission: "zone.edit",
  handle: async ({ zone }, { zones }) => {
    await zones.activate(zone.id);
    return { id: zone.id };
  },
});
