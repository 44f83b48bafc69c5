/** Which origins the edge may connect to: no addresses of the platform's own networks unless allowed, web ports only. */
import type { Ranges } from "#kit/cidr.ts";
import { INTERNAL_ADDRESSES } from "#kit/internal-addresses.ts";

/** Ports on which the original serves and asks: for HTTP, and the one for HTTPS that goes with it. */
const WEB_PORTS: readonly (readonly [http: number, https: number])[] = [
  [80, 443],
  [8080, 8443],
  [8880, 443],
  [2052, 2053],
  [2082, 2083],
  [2086, 2087],
  [2095, 2096],
];

type Scheme = "http" | "https";

export interface OriginPolicy {
  readonly allowed: Ranges;
}

export function mayConnect(address: string, { allowed }: OriginPolicy): boolean {
  return allowed.has(address) || !INTERNAL_ADDRESSES.has(address);
}

/**
 * The origin is asked on the port that the client used, as the original does, or on the one that goes with it in
 * the other scheme. Where that is none for the web, on the scheme's own.
 */
export function originPort(scheme: Scheme, clientScheme: Scheme, host: string): number {
  const port = Number(/:(\d+)$/.exec(host)?.[1] ?? 0);
  const column = clientScheme === "https" ? 1 : 0;
  const pair = WEB_PORTS.find((ports) => ports[column] === port) ?? WEB_PORTS[0]!;
  return pair[scheme === "https" ? 1 : 0];
}

/** How the origin is asked, as the zone's `ssl` setting says. */
export function originScheme(
  ssl: unknown,
  clientScheme: Scheme,
): { readonly scheme: Scheme; readonly verifies: boolean } {
  if (ssl === "off" || ssl === "flexible") return { scheme: "http", verifies: false };
  return { scheme: clientScheme, verifies: ssl === "strict" };
}
