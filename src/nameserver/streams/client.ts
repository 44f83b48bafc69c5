/** Who asks, from an address as sockets show it. */
import { parseIpv4, parseIpv6 } from "#dns";
import { unmapped } from "#kit/cidr.ts";
import type { Client } from "../client.ts";

export function clientOf(transport: number, address: string, port: number): Client {
  const plain = unmapped(address).split("%")[0]!; // A link-local address may name its interface.
  const octets = parseIpv4(plain) ?? parseIpv6(plain) ?? new Uint8Array(4);
  const padded = new Uint8Array(16);
  padded.set(octets);
  return { transport, address: padded, addressLength: octets.length, port };
}
