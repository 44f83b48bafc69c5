/** An address range as octets, for comparing without text. */
import { isIP } from "node:net";

export function parseRange(text: string): { readonly octets: Uint8Array; readonly bits: number } {
  const [address = "", prefix] = text.split("/");
  const octets = isIP(address) === 4 ? Uint8Array.from(address.split("."), Number) : ipv6(address);
  return { octets, bits: prefix === undefined ? octets.length * 8 : Number(prefix) };
}

/** The URL parser writes any form of an IPv6 address in one way. */
function ipv6(text: string): Uint8Array {
  const normal = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [left = "", right = ""] = normal.split("::");
  const groups = (half: string) => (half === "" ? [] : half.split(":"));
  const gap = normal.includes("::") ? 8 - groups(left).length - groups(right).length : 0;
  const all = [...groups(left), ...Array<string>(gap).fill("0"), ...groups(right)];
  return Uint8Array.from(
    all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
}
