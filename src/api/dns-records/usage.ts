/** Tells how many records a zone has. */
import { endpoint } from "../endpoint.ts";

export const recordUsage = endpoint({
  method: "GET",
  path: "/zones/:zone_id/dns_records/usage",
  summary: "Count a zone's DNS records",
  permission: "dns.read",
  handle: ({ zone }, { records }) => ({
    record_quota: records.quota,
    record_usage: zone.records,
  }),
});
