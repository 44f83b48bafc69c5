/** Where a request goes. The one place that knows the order: a script's route, then a bucket, then the origin. */
import type { ZoneRoutes } from "#scripts/on-threads";
import type { HostFacts, OriginFacts, ZoneFacts } from "./facts/facts.ts";
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
  | { readonly kind: "bucket"; readonly answerHeaders: readonly string[] }
  | {
      readonly kind: "origin";
      readonly zone: ServedZone;
      readonly origin: OriginFacts;
      readonly answerHeaders: readonly string[];
    }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** A zone with its routes made ready. */
export interface ServedZone extends Omit<ZoneFacts, "routes"> {
  readonly routes: Pick<ZoneRoutes, "match">;
}

/** What is known by a key; asked for where it is not. */
export interface Known<T> {
  get(key: string): T | Promise<T>;
}

export interface DestinationOptions {
  readonly hosts: Known<HostFacts>;
  /** By name; null is a zone that is gone. */
  readonly zones: Known<ServedZone | null>;
  /** Where HTTPS listens, for zones that want nothing else; null where a redirect would lead nowhere. */
  readonly httpsPort: number | null;
}

const HTTPS_PORT = 443;

interface Proxied {
  readonly origin: OriginFacts;
  readonly isBucket: boolean;
}

export function destinations({ hosts, zones, httpsPort }: DestinationOptions) {
  const inZone = (
    asked: Asked,
    { origin, isBucket }: Proxied,
    zone: ServedZone | null,
  ): Destination => {
    if (zone === null) return refused(refusals.unknownHost(asked.hostname));
    const refusal = refusedByZone(asked, zone, httpsPort);
    if (refusal !== null) return refused(refusal);
    const answerHeaders = asked.scheme === "https" ? zone.securityHeaders : NO_HEADERS;
    const script = zone.routes.match(asked.hostname, plainTarget(asked.target), asked.scheme);
    if (script !== null && script !== "none") return { kind: "script", ...script, answerHeaders };
    if (isBucket) return { kind: "bucket", answerHeaders };
    return { kind: "origin", zone, origin, answerHeaders };
  };
  const atHost = (asked: Asked, host: HostFacts): Destination | Promise<Destination> => {
    if (host.kind === "script") return { ...host, answerHeaders: NO_HEADERS };
    if (host.kind === "unknown") return refused(refusals.unknownHost(asked.hostname));
    const { zoneName, origin, isBucket = false } = host;
    if (origin === null) return refused(refusals.notProxied(asked.hostname));
    const proxied = { origin, isBucket };
    const zone = zones.get(zoneName);
    return zone instanceof Promise
      ? zone.then((found) => inZone(asked, proxied, found))
      : inZone(asked, proxied, zone);
  };
  return (asked: Asked): Destination | Promise<Destination> => {
    const host = hosts.get(asked.hostname);
    return host instanceof Promise
      ? host.then((found) => atHost(asked, found))
      : atHost(asked, host);
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
  { httpsOnly, tls13Only }: ServedZone,
  httpsPort: number | null,
): Refusal | null {
  if (scheme === "https") return tls13Only && tlsVersion === "TLSv1.2" ? refusals.oldTls() : null;
  if (httpsPort === null || !httpsOnly) return null;
  const port = httpsPort === HTTPS_PORT ? "" : `:${httpsPort}`;
  return refusals.moved(`https://${hostname}${port}${target}`);
}

const NO_HEADERS: readonly string[] = [];

function refused(refusal: Refusal): Destination {
  return { kind: "refused", refusal };
}
