/** What a zone's settings ask of its requests. The one place of the edge that reads them. */
import type { PlacedRoutes } from "#scripts";
import { developmentModeEnds, type Zone, zoneSettingOf } from "#zones";
import type { CacheLevel } from "../cache/messages.ts";
import type { ZoneFacts } from "./facts.ts";

export function zoneFacts({ id, settings }: Zone, routes: PlacedRoutes): ZoneFacts {
  const cacheLevel = zoneSettingOf(settings, "cache_level") as "bypass" | CacheLevel;
  return {
    id,
    httpsOnly: zoneSettingOf(settings, "always_use_https") === "on",
    tls13Only: zoneSettingOf(settings, "min_tls_version") === "1.3",
    securityHeaders: transportSecurity(settings),
    ssl: zoneSettingOf(settings, "ssl"),
    cacheLevel: cacheLevel === "bypass" ? "off" : cacheLevel,
    developmentModeEnds: developmentModeEnds(settings),
    browserTtlSeconds: zoneSettingOf(settings, "browser_cache_ttl") as number,
    routes,
  };
}

/** RFC 6797 §6.1. */
function transportSecurity(settings: Zone["settings"]): readonly string[] {
  const { strict_transport_security: hsts } = zoneSettingOf(settings, "security_header") as {
    strict_transport_security: {
      readonly enabled?: boolean;
      readonly max_age?: number;
      readonly include_subdomains?: boolean;
      readonly preload?: boolean;
      readonly nosniff?: boolean;
    };
  };
  if (hsts.enabled !== true) return [];
  const subdomains = hsts.include_subdomains === true ? "; includeSubDomains" : "";
  const preload = hsts.preload === true ? "; preload" : "";
  const value = `max-age=${hsts.max_age ?? 0}${subdomains}${preload}`;
  const nosniff = hsts.nosniff === true ? ["X-Content-Type-Options", "nosniff"] : [];
  return ["Strict-Transport-Security", value, ...nosniff];
}
