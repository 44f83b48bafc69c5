/** Lists the records of a zone, filtered, ordered and paged. */
import {
  comparing,
  matches,
  type RecordFilter,
  type Records,
  type Zone,
  type ZoneRecord,
} from "#zones";
import { endpoint } from "../endpoint.ts";
import { paged } from "../shapes.ts";
import { filterOf, recordsQuery, repeatedFields } from "./list-query.ts";
import { showRecord } from "./shape.ts";

export const listRecords = endpoint({
  method: "GET",
  path: "/zones/:zone_id/dns_records",
  summary: "List DNS records",
  permission: "dns.read",
  query: recordsQuery,
  repeats: repeatedFields,
  handle: async ({ zone, query }, { records }) => {
    const found = await find(records, zone, filterOf(zone, query));
    found.sort(comparing(query.order, query.direction));
    // Sorted already, so the page is taken in the order it has.
    return paged(found, { ...query, direction: "asc" }, (record) => showRecord(zone, record));
  },
});

/** A whole name is looked up; anything else walks through the zone. */
async function find(records: Records, zone: Zone, filter: RecordFilter): Promise<ZoneRecord[]> {
  const exact = filter.name.find(({ operator }) => operator === "exact");
  if (exact !== undefined && filter.match === "all") {
    const there = await records.at(zone, exact.value);
    return there.filter((record) => matches(record, filter));
  }
  const found: ZoneRecord[] = [];
  for await (const stretch of records.all(zone)) {
    for (const record of stretch) if (matches(record, filter)) found.push(record);
  }
  return found;
}
