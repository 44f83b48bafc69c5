/** Under what a response is kept: the zone, and the URL as far as the zone's level tells URLs apart. */
import type { CacheRequest } from "./messages.ts";

/** Only the level `aggressive` tells URLs apart by their queries. */
export function cacheKey({ zoneId, level, scheme, hostname, target }: CacheRequest): string {
  const query = level === "aggressive" ? -1 : target.indexOf("?");
  const path = query === -1 ? target : target.slice(0, query);
  return `${zoneId} ${scheme}://${hostname}${path}`;
}

/** What purges go by. */
export interface KeyParts {
  readonly zoneId: string;
  readonly hostname: string;
  /** The URL without its scheme: a purge means both. */
  readonly address: string;
}

export function keyParts(key: string): KeyParts {
  const address = key.slice(key.indexOf("//") + 2);
  return {
    zoneId: key.slice(0, key.indexOf(" ")),
    hostname: address.slice(0, address.indexOf("/")),
    address,
  };
}

/**
 * The keys that an unsafe request makes doubtful: its own, and those of `Location` and `Content-Location`
 * on the same host. RFC 9111 §4.4.
 */
export function doubtfulKeys(
  request: CacheRequest,
  locations: readonly (string | null)[],
): readonly string[] {
  const base = `${request.scheme}://${request.hostname}${request.target}`;
  const targets = locations.flatMap((location) => {
    const url = location === null ? null : URL.parse(location, base);
    return url?.hostname === request.hostname ? [`${url.pathname}${url.search}`] : [];
  });
  // Whatever the level is now, or was when they were stored.
  const kinds = SCHEMES.flatMap((scheme) => LEVELS.map((level) => ({ ...request, scheme, level })));
  const keys = [request.target, ...targets].flatMap((target) =>
    kinds.map((kind) => cacheKey({ ...kind, target })),
  );
  return [...new Set(keys)];
}

const SCHEMES = ["http", "https"] as const;
const LEVELS = ["aggressive", "simplified"] as const;
