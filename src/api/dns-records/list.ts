/** Lists the records of a zone, filtered, ordered and paged. */
import type { z } from "zod";
import {
  comparing,
  isUnfiltered,
  matches,
  type RecordFilter,
  type Records,
  type Zone,
  type ZoneRecord,
} from "#zones";
import { endpoint } from "../endpoint.ts";
import { Answer } from "../envelope.ts";
import { paged, pageInfo } from "../shapes.ts";
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
    const filter = filterOf(zone, query);
    const { order, direction } = query;
    if (isUnfiltered(filter) && (order === "type" || order === "name")) {
      return wholePage(zone, records, { ...query, order });
    }
    const found = await find(records, zone, filter);
    found.sort(comparing(order, direction));
    // Sorted already, so the page is taken in the order it has.
    return paged(found, { ...query, direction: "asc" }, (record) => showRecord(zone, record));
  },
});

/** Without a filter the index has the page, however large the zone. */
async function wholePage(
  zone: Zone,
  records: Records,
  query: z.output<typeof recordsQuery> & { order: "type" | "name" },
): Promise<Answer> {
  const { page, per_page, order, direction } = query;
  const range = { offset: (page - 1) * per_page, limit: per_page };
  const found = await records.page(zone, `${order} ${direction}`, range);
  const result = found.map((record) => showRecord(zone, record));
  return new Answer(result, { resultInfo: pageInfo(query, result.length, zone.records) });
}

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
