/**
 * Zones and their records: the rules, the rows, and the history. A change of a zone is one serial and
 * happens all or not at all (`records.ts`); what it checks lies in `record-input.ts` (one record by
 * itself) and `coexistence.ts` (records beside each other). Listeners hear of every change; those of other
 * nodes come through `zone-feed.ts`.
 */
export { type DnsSettings } from "./dns-settings.ts";
export type { RecordChange } from "./draft.ts";
export { ZoneFault, type ZoneFaultKind } from "./fault.ts";
export type { HistoryEntry } from "./history.ts";
export type { ChangedNames, ZoneListener } from "./listener.ts";
export { isDiscouraged, ownerName } from "./owner-name.ts";
export { dataOf, typeOf, type ZoneRecord } from "./record.ts";
export {
  comparing,
  isUnfiltered,
  matches,
  type RecordFilter,
  recordOrders,
  type TagFilter,
  type TextFilter,
  type TextOperator,
} from "./record-filter.ts";
export type { RecordFields } from "./record-input.ts";
export { type Batch, Records } from "./records.ts";
export { type RecordRow, zoneMigrations, type ZoneType } from "./schema.ts";
export { namesAbove, type Shadow } from "./shadow.ts";
export type { Zone } from "./zone.ts";
export type { Changed } from "./zone-changes.ts";
export {
  developmentModeEnds,
  isZoneSetting,
  zoneSettingOf,
  zoneSettings,
} from "./zone-settings.ts";
export { exportHead, exportLine, importZoneFile } from "./zone-transfer.ts";
export { Zones } from "./zones.ts";
