/** What a zone's settings say to the cache. */
import { developmentModeEnds, type Zone, zoneSettingOf } from "#zones";
import type { CacheLevel } from "./messages.ts";

export function cacheLevelOf({ settings }: Pick<Zone, "settings">, now: number): CacheLevel {
  const level = zoneSettingOf(settings, "cache_level") as "bypass" | CacheLevel;
  if (level === "bypass") return "off";
  return now < developmentModeEnds(settings) ? "bypass" : level;
}
