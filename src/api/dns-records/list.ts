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
import { pageInfo } from "../shapes.ts";
import { showRecords } from "./answer.ts";
import { filterOf, recordsQuery, repeatedFields } from "./list-query.ts";

export const listRecords = endpoint({
  method: "GET",
  path: "/zones/:zone_id/dns_records",
  summary: "List DNS records",
  permission: "dns.read",
  query: recordsQuery,
  repeats: repeatedFields,
  handle: async ({ zone, query }, { records }) => {
    const { listed, total } = await pageOf(records, zone, query);
    const result = await showRecords(zone, listed, query, records);
    return new Answer(result, { resultInfo: pageInfo(query, result.length, total) });
  },
});

async function pageOf(
  records: Records,
  zone: Zone,
  query: z.output<typeof recordsQuery>,
): Promise<{ listed: ZoneRecord[]; total: number }> {
  const filter = filterOf(zone, query);
  const { page, per_page, order, direction } = query;
  const offset = (page - 1) * per_page;
  // Without a filter the index has the page, however large the zone.
  if (isUnfiltered(filter) && (order === "type" || order === "name")) {
    const range = { offset, limit: per_page };
    const listed = await records.page(zone, `${order} ${direction}`, range);
    return { listed, total: zone.records };
  }
  const found = await find(records, zone, filter);
  found.sort(comparing(order, direction));
  return { listed: found.slice(offset, offset + per_page), total: found.length };
}

/** Whole names are looked up; anything else walks through the zone. */
async function find(records: Records, zone: Zone, filter: RecordFilter): Promise<ZoneRecord[]> {
  const exact = filter.name.find(({ operator }) => operator === "exact");
  const names =
    filter.delegating ?? (exact !== undefined && filter.match === "all" ? [exact.value] : null);
  const found: ZoneRecord[] = [];
  const stretches =
    names === null
      ? records.all(zone)
      : await Promise.all(names.map((name) => records.at(zone, name)));
  for await (const stretch of stretches) {
    for (const record of stretch) if (matches(record, filter)) found.push(record);
  }
  return found;
}
