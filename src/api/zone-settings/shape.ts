/** A zone's setting in the API's spelling. */
import { type Zone, zoneSettingOf, type zoneSettings } from "#zones";
import { showTime } from "../shapes.ts";

export function showSetting(zone: Zone, id: keyof typeof zoneSettings): object {
  const modified = zone.settings[id]?.modifiedOn;
  return {
    id,
    value: zoneSettingOf(zone.settings, id),
    modified_on: modified === undefined ? null : showTime(modified),
    editable: true,
    ...(id === "development_mode" && { time_remaining: 0 }),
  };
}
