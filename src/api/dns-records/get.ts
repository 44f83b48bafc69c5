/** Shows a record. */
import { endpoint } from "../endpoint.ts";
import { showRecord } from "./shape.ts";

export const getRecord = endpoint({
  method: "GET",
  path: "/zones/:zone_id/dns_records/:record_id",
  summary: "Show a DNS record",
  permission: "dns.read",
  handle: async ({ zone, params }, { records }) =>
    showRecord(zone, await records.get(zone, params.record_id)),
});
