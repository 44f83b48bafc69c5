/** Times to live: decimal seconds, or units in any mix, as `1h30m`. RFC 2181 §8, RFC 2308 §4. */

/** RFC 2181 §8. */
export const MAX_TTL_SECONDS = 0x7fff_ffff;

const UNITS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1 };

/** The seconds, or null when the text is not a time. It may be too large for what it is used as. */
export function parseTtl(text: string): number | null {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  if (!/^(?:\d{1,10}[wdhms])+$/i.test(text)) return null;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([a-z])/gi)) {
    sum += Number(count) * UNITS[unit!.toLowerCase()]!;
  }
  return sum;
}
