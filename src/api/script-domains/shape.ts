/** A script's domain in the API's spelling. */
import type { ScriptDomain } from "#scripts";
import type { Zone } from "#zones";

export function showDomain(domain: ScriptDomain, zones: readonly Zone[]): object {
  const { id, zoneId, hostname, service, environment } = domain;
  return {
    id,
    zone_id: zoneId,
    zone_name: zones.find((zone) => zone.id === zoneId)?.name ?? "",
    hostname,
    service,
    environment,
    cert_id: "",
    enabled: true,
    previews_enabled: false,
  };
}
