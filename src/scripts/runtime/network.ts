/** What `fetch` and `connect` of a script may reach. */
import { BlockList, isIP } from "node:net";
import { type CapnpText, list, struct, text, TRUE } from "./capnp-text.ts";

/**
 * Ranges that workerd takes for public and that lead to other places: shared and test networks, and IPv6
 * forms of IPv4 addresses, which translators turn into those, private ones too. RFC 6890, 6052, 3056, 4380.
 */
export const NOT_PUBLIC = [
  "0.0.0.0/8",
  "100.64.0.0/10",
  "192.0.0.0/24",
  "198.18.0.0/15",
  "224.0.0.0/3",
  "::/96",
  "::ffff:0:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/32",
  "2002::/16",
  "fec0::/10",
  "ff00::/8",
] as const;

/** Public addresses, and those of the platform's choice. */
export function networkOf(outbound: readonly string[]): CapnpText {
  return struct({
    allow: list(["public", ...outbound].map(text)),
    // What is denied cannot be allowed again, so a range that holds an allowed one is left out.
    deny: list(NOT_PUBLIC.filter((range) => !meets(range, outbound)).map(text)),
    tlsOptions: struct({ trustBrowserCas: TRUE }),
  });
}

function meets(range: string, others: readonly string[]): boolean {
  return others.some((other) => holds(range, addressOf(other)) || holds(other, addressOf(range)));
}

function addressOf(range: string): string {
  return range.split("/")[0]!;
}

function holds(range: string, address: string): boolean {
  const [first, prefix] = range.split("/") as [string, string?];
  const family = isIP(first) === 6 ? "ipv6" : "ipv4";
  if (isIP(first) !== isIP(address)) return false;
  const block = new BlockList();
  block.addSubnet(first, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
  return block.check(address, family);
}
