/** Socket addresses as the kernel reads them: `sockaddr_in` and `sockaddr_in6`. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { parseIpv4, parseIpv6 } from "#dns";
import type { HostPort } from "#kit/address.ts";
import { AF_INET, AF_INET6 } from "#kit/libc.ts";

export interface ResolvedAddress extends HostPort {
  readonly family: 4 | 6;
}

/** The address behind a host name; an address stands for itself. */
export async function resolveAddress({ host, port }: HostPort): Promise<ResolvedAddress> {
  const known = isIP(host); // A lookup would lose the zone of a link-local address.
  const { address, family } = known === 0 ? await lookup(host) : { address: host, family: known };
  return { host: address, port, family: family === 6 ? 6 : 4 };
}

export function isWildcard({ host, family }: ResolvedAddress): boolean {
  return octetsOf(host, family).every((octet) => octet === 0);
}

export function encodeSockaddr({ host, port, family }: ResolvedAddress): Uint8Array {
  const sockaddr = new Uint8Array(family === 4 ? 16 : 28);
  const view = new DataView(sockaddr.buffer);
  view.setUint16(0, family === 4 ? AF_INET : AF_INET6, true);
  view.setUint16(2, port);
  sockaddr.set(octetsOf(host, family), family === 4 ? 4 : 8);
  if (family === 6) view.setUint32(24, scopeOf(host), true);
  return sockaddr;
}

export function portOf(sockaddr: Uint8Array): number {
  return (sockaddr[2]! << 8) | sockaddr[3]!;
}

function octetsOf(host: string, family: 4 | 6): Uint8Array {
  const octets = family === 4 ? parseIpv4(host) : parseIpv6(host.split("%")[0]!);
  if (octets === null) throw new Error(`${host} is not an address`);
  return octets;
}

/** `fe80::1%eth0` or `fe80::1%2`: the interface that a link-local address belongs to. */
function scopeOf(host: string): number {
  const zone = host.split("%")[1];
  if (zone === undefined) return 0;
  const scopes = networkInterfaces()[zone]?.map(({ scopeid }) => scopeid ?? 0) ?? [Number(zone)];
  return Math.max(0, ...scopes); // Only its link-local addresses tell.
}
