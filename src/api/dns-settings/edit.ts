/** Changes how a zone is served; what is not given stays. */
import { endpoint } from "../endpoint.ts";
import { dnsSettingsInput, mergeDnsSettings, showDnsSettings } from "./shape.ts";

export const editDnsSettings = endpoint({
  method: "PATCH",
  path: "/zones/:zone_id/dns_settings",
  summary: "Change a zone's DNS settings",
  permission: "dns.edit",
  body: dnsSettingsInput,
  handle: async ({ zone, body }, { zones }) => {
    const changed = await zones.editDnsSettings(zone.id, (now) => mergeDnsSettings(now, body));
    return showDnsSettings(changed.dnsSettings);
  },
});
