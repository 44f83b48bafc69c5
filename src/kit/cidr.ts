/** Address ranges: `192.0.2.0/24`, `2001:db8::/32`, or a single address. */
import { BlockList, isIP } from "node:net";
import { shorten } from "./shorten.ts";

/** A set of ranges that can be asked whether it holds an address. */
export interface Ranges {
  has(address: string): boolean;
}

/** Why the text is not a range, or null when it is one. */
export function rangeFault(text: string): string | null {
  const [address, prefix, ...rest] = text.split("/");
  const family = isIP(address ?? "");
  if (family === 0 || rest.length > 0)
    return `"${shorten(text)}" is not an IP address or CIDR range`;
  if (prefix === undefined) return null;
  const longest = family === 4 ? 32 : 128;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= longest
    ? null
    : `"${shorten(text)}" needs a prefix length from 0 to ${longest}`;
}

/** Compiles ranges that `rangeFault` has passed. */
export function ranges(texts: Iterable<string>): Ranges {
  const list = new BlockList();
  let isEmpty = true;
  for (const text of texts) {
    isEmpty = false;
    const [address, prefix] = text.split("/") as [string, string?];
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return {
    has(address) {
      if (isEmpty) return false;
      const plain = unmapped(address);
      const family = isIP(plain);
      return family !== 0 && list.check(plain, family === 6 ? "ipv6" : "ipv4");
    },
  };
}

/** A dual-stack socket shows 192.0.2.1 as ::ffff:192.0.2.1; rules and logs mean the former. */
export function unmapped(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}

/**
 * What limits count as one source: an IPv4 address, or the /64 that one IPv6 host commands whole.
 */
export function source(address: string): string {
  const plain = unmapped(address);
  if (isIP(plain) !== 6) return plain;
  const [head = "", tail = ""] = plain.split("%")[0]!.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const gap = plain.includes("::") ? Array<string>(8 - left.length - right.length).fill("0") : [];
  const groups = [...left, ...gap, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
