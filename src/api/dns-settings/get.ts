/** Shows how a zone is served. */
import { endpoint } from "../endpoint.ts";
import { showDnsSettings } from "./shape.ts";

export const getDnsSettings = endpoint({
  method: "GET",
  path: "/zones/:zone_id/dns_settings",
  summary: "Show a zone's DNS settings",
  permission: "dns.read",
  handle: ({ zone }) => showDnsSettings(zone.dnsSettings),
});
