/** Shows a record. */
import { endpoint } from "../endpoint.ts";
import { showRecords } from "./answer.ts";
import { shadowQuery } from "./shape.ts";

export const getRecord = endpoint({
  method: "GET",
  path: "/zones/:zone_id/dns_records/:record_id",
  summary: "Show a DNS record",
  permission: "dns.read",
  query: shadowQuery,
  handle: async ({ zone, params, query }, { records }) => {
    const record = await records.get(zone, params.record_id);
    return (await showRecords(zone, [record], query, records))[0];
  },
});
