/** Purges what is cached of a zone. */
import { zoneSettingOf } from "#zones";
import { endpoint } from "../endpoint.ts";
import { purgeInput, purgesOf } from "./shape.ts";

export const purgeCache = endpoint({
  method: "POST",
  path: "/zones/:zone_id/purge_cache",
  summary: "Purge cached responses",
  permission: "cache.purge",
  body: purgeInput,
  handle: async ({ zone, body }, { purges }) => {
    const dropsQuery = zoneSettingOf(zone.settings, "cache_level") === "simplified";
    await purges.purge(purgesOf(zone, body, dropsQuery));
    return { id: zone.id };
  },
});
