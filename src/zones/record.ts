/** A record as the zone keeps it. */
import { type AnyRecordType, recordType } from "#dns";
import type { RowOf } from "#db";
import type { recordById } from "./schema.ts";

/** The row without what few records have, which stands beside it in plain fields. */
export type ZoneRecord = RowOf<typeof recordById>;

export function typeOf(record: ZoneRecord): AnyRecordType {
  const type = recordType(record.type);
  if (type === null) throw new Error(`There is no record type ${record.type}`);
  return type;
}

/** The record's data. The content and the priority say all there is. */
export function dataOf(record: ZoneRecord): object {
  const { content, priority } = record;
  return typeOf(record).api.accept({ content, ...(priority !== null && { priority }) });
}
