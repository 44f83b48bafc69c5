/** Where a request goes. The one place that knows the order: a script's route, then the origin. */
import { type Zone, zoneSettingOf } from "#zones";
import type { KnownName, ProxiedNames } from "./proxied-names.ts";
import { type Refusal, refusals } from "./refusals.ts";

export interface Asked {
  readonly scheme: "http" | "https";
  /** As OpenSSL calls it; null where the door speaks none. */
  readonly tlsVersion: string | null;
  /** Lower case, without port and without a dot at its end. */
  readonly hostname: string;
  /** As the client sent it: path and query. */
  readonly target: string;
}

export type Destination =
  | {
      readonly kind: "script";
      readonly scriptId: string;
      /** What the answer gets beside its own headers. */
      readonly answerHeaders: readonly string[];
    }
  | {
      readonly kind: "origin";
      readonly known: KnownName;
      readonly answerHeaders: readonly string[];
    }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Which script answers, if one does. `Routes` of the scripts is one. */
export interface ScriptRoutes {
  match(
    zoneId: string,
    hostname: string,
    target: string,
    scheme: Asked["scheme"],
  ): { readonly scriptId: string } | "none" | null;
  /** By a hostname of the script's own: a custom domain, or one under the platform's domain for scripts. */
  ownHost(hostname: string): { readonly scriptId: string } | null;
}

export interface DestinationOptions {
  readonly names: ProxiedNames;
  readonly routes: ScriptRoutes;
  /** Where HTTPS listens, for zones that want nothing else; null where a redirect would lead nowhere. */
  readonly httpsPort: number | null;
}

const HTTPS_PORT = 443;

export function destinations({ names, routes, httpsPort }: DestinationOptions) {
  const within = (asked: Asked, { zone, proxied }: KnownName): Destination => {
    if (proxied.length === 0) return refused(refusals.notProxied(asked.hostname));
    const refusal = refusedByZone(asked, zone, httpsPort);
    if (refusal !== null) return refused(refusal);
    const answerHeaders = asked.scheme === "https" ? transportSecurity(zone) : NO_HEADERS;
    const script = routes.match(zone.id, asked.hostname, plainTarget(asked.target), asked.scheme);
    if (script !== null && script !== "none") return { kind: "script", ...script, answerHeaders };
    return { kind: "origin", known: { zone, proxied }, answerHeaders };
  };
  return (asked: Asked): Destination | Promise<Destination> => {
    const own = routes.ownHost(asked.hostname);
    if (own !== null) return { kind: "script", ...own, answerHeaders: NO_HEADERS };
    const known = names.find(asked.hostname);
    if (known === null) return refused(refusals.unknownHost(asked.hostname));
    return known instanceof Promise
      ? known.then((found) => within(asked, found))
      : within(asked, known);
  };
}

/**
 * The target as scripts read it from their request's URL: what routes protect must not be reached around them by
 * another spelling.
 */
function plainTarget(target: string): string {
  if (!/\/\.|%2e|\\/i.test(target)) return target;
  const { pathname, search } = new URL(`http://host${target}`);
  return pathname + search;
}

/** What the settings of a zone ask of every request for its names. */
function refusedByZone(
  { scheme, tlsVersion, hostname, target }: Asked,
  { settings }: Zone,
  httpsPort: number | null,
): Refusal | null {
  if (scheme === "https") {
    const isOld = tlsVersion === "TLSv1.2" && zoneSettingOf(settings, "min_tls_version") === "1.3";
    return isOld ? refusals.oldTls() : null;
  }
  if (httpsPort === null || zoneSettingOf(settings, "always_use_https") !== "on") return null;
  const port = httpsPort === HTTPS_PORT ? "" : `:${httpsPort}`;
  return refusals.moved(`https://${hostname}${port}${target}`);
}

/** RFC 6797 §6.1. */
function transportSecurity({ settings }: Zone): readonly string[] {
  const { strict_transport_security: hsts } = zoneSettingOf(settings, "security_header") as {
    strict_transport_security: {
      readonly enabled?: boolean;
      readonly max_age?: number;
      readonly include_subdomains?: boolean;
      readonly preload?: boolean;
      readonly nosniff?: boolean;
    };
  };
  if (hsts.enabled !== true) return NO_HEADERS;
  const subdomains = hsts.include_subdomains === true ? "; includeSubDomains" : "";
  const preload = hsts.preload === true ? "; preload" : "";
  const value = `max-age=${hsts.max_age ?? 0}${subdomains}${preload}`;
  const nosniff = hsts.nosniff === true ? ["X-Content-Type-Options", "nosniff"] : [];
  return ["Strict-Transport-Security", value, ...nosniff];
}

const NO_HEADERS: readonly string[] = [];

function refused(refusal: Refusal): Destination {
  return { kind: "refused", refusal };
}
