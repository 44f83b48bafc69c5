/** IP addresses as octets and as the one text that everybody prints. RFC 4291 §2.2, RFC 5952. */

const QUAD = /^(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])){3}$/;

const DOT = 0x2e;
const ZERO = 0x30;

/** Four decimal parts without leading zeros. */
export function isIpv4(text: string): boolean {
  return QUAD.test(text);
}

/** The octets of such an address; null for anything else. */
export function parseIpv4(text: string): Uint8Array | null {
  if (!isIpv4(text)) return null;
  const octets = new Uint8Array(4);
  let part = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) part++;
    else octets[part] = octets[part]! * 10 + code - ZERO;
  }
  return octets;
}

export function printIpv4(octets: Uint8Array): string {
  return octets.join(".");
}

/** Any form of RFC 4291, without a zone index; null for anything else. */
export function parseIpv6(text: string): Uint8Array | null {
  if (!/^[0-9a-f:.]{2,45}$/i.test(text)) return null;
  const hex = text.includes(".") ? withHexTail(text) : text;
  const halves = hex?.split("::");
  if (halves === undefined || halves.length > 2) return null;
  const [left, right] = halves.map((half) => (half === "" ? [] : half.split(":"))) as [
    string[],
    string[]?,
  ];
  const gap = 8 - left.length - (right?.length ?? 0);
  if (right === undefined ? gap !== 0 : gap < 1) return null;
  const groups = [...left, ...Array<string>(gap).fill("0"), ...(right ?? [])];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return Uint8Array.from(
    groups.flatMap((group) => {
      const value = Number.parseInt(group, 16);
      return [value >> 8, value & 255];
    }),
  );
}

/** `::ffff:192.0.2.1` as `::ffff:c000:201`. */
function withHexTail(text: string): string | null {
  const colon = text.lastIndexOf(":");
  const quad = parseIpv4(text.slice(colon + 1));
  if (quad === null) return null;
  const [a, b, c, d] = quad as unknown as [number, number, number, number];
  const group = (high: number, low: number) => ((high << 8) | low).toString(16);
  return `${text.slice(0, colon + 1)}${group(a, b)}:${group(c, d)}`;
}

/** Lower case, the longest run of zeros as `::`, mapped IPv4 with a dotted tail. RFC 5952 §4, §5. */
export function printIpv6(octets: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => (octets[2 * i]! << 8) | octets[2 * i + 1]!);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return `::ffff:${printIpv4(octets.subarray(12))}`;
  }
  const { start, length } = longestZeros(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(":");
  return `${hex.slice(0, start).join(":")}::${hex.slice(start + length).join(":")}`;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
