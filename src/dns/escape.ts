/** Escapes of presentation text: `\DDD` is an octet in decimal, `\X` the character X. RFC 1035 §5.1. */

/** The octet that starts an escape. */
export const backslash = 0x5c;

/** The octet that the escape at this place stands for, and the escape's length; null if it is none. */
export function escapedOctet(
  octets: Uint8Array,
  at: number,
): { readonly octet: number; readonly length: number } | null {
  const next = octets[at + 1];
  if (next === undefined) return null;
  if (!isDigit(next)) return { octet: next, length: 2 };
  const tens = octets[at + 2];
  const ones = octets[at + 3];
  if (!isDigit(tens) || !isDigit(ones)) return null;
  const octet = (next - 0x30) * 100 + (tens - 0x30) * 10 + (ones - 0x30);
  return octet > 255 ? null : { octet, length: 4 };
}

function isDigit(octet: number | undefined): octet is number {
  return octet !== undefined && octet >= 0x30 && octet <= 0x39;
}

export function decimalEscape(octet: number): string {
  return `\\${String(octet).padStart(3, "0")}`;
}
