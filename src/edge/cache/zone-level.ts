/** What a zone says to the cache at a time. */
import type { ZoneFacts } from "../facts/facts.ts";
import type { CacheLevel } from "./messages.ts";

export function cacheLevelAt(
  { cacheLevel, developmentModeEnds }: Pick<ZoneFacts, "cacheLevel" | "developmentModeEnds">,
  now: number,
): CacheLevel {
  if (cacheLevel === "off") return "off";
  return now < developmentModeEnds ? "bypass" : cacheLevel;
}
