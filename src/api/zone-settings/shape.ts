/** A zone's setting in the API's spelling. */
import { developmentModeEnds, type Zone, zoneSettingOf, type zoneSettings } from "#zones";
import { showTime } from "../shapes.ts";

export function showSetting(zone: Zone, id: keyof typeof zoneSettings, now: number): object {
  const modified = zone.settings[id]?.modifiedOn;
  return {
    id,
    value: zoneSettingOf(zone.settings, id),
    modified_on: modified === undefined ? null : showTime(modified),
    editable: true,
    ...(id === "development_mode" && developmentMode(zone, now)),
  };
}

/** It switches itself off. */
function developmentMode({ settings }: Zone, now: number): object {
  const leftMs = developmentModeEnds(settings) - now;
  return leftMs > 0
    ? { value: "on", time_remaining: Math.ceil(leftMs / 1000) }
    : { value: "off", time_remaining: 0 };
}
