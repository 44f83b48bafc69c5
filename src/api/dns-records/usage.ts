/** Tells how many records a zone has. */
import { endpoint } from "../endpoint.ts";

/** The same for all zones of an account, which has no quota of its own. */
export const accountUsage = endpoint({
  method: "GET",
  path: "/accounts/:account_id/dns_records/usage",
  summary: "Count an account's DNS records",
  permission: "account.read",
  handle: async ({ params }, { zones }) => {
    const all = await zones.list([params.account_id]);
    return { record_quota: null, record_usage: all.reduce((sum, zone) => sum + zone.records, 0) };
  },
});

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
