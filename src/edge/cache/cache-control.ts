/** The directives of Cache-Control. RFC 9111 §5.2. */

/** By lower-case name; null where a directive has no argument. */
export type Directives = ReadonlyMap<string, string | null>;

export const NO_DIRECTIVES: Directives = new Map();

/** Larger ones are this one: some 68 years, which is as good as for ever. RFC 9111 §1.2.2. */
const MAX_SECONDS = 2 ** 31;

// A name, perhaps an argument as token or quoted, then whatever stands before the next comma.
const DIRECTIVE = /([^\s,="]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?[^,]*/y;
const SEPARATORS = ", \t";

export function parseCacheControl(text: string | null | undefined): Directives {
  if (text === null || text === undefined) return NO_DIRECTIVES;
  const found = new Map<string, string | null>();
  for (let at = 0; at < text.length;) {
    if (SEPARATORS.includes(text[at]!)) {
      at++;
      continue;
    }
    DIRECTIVE.lastIndex = at;
    const match = DIRECTIVE.exec(text);
    if (match === null) {
      const comma = text.indexOf(",", at);
      at = comma === -1 ? text.length : comma;
      continue;
    }
    at = DIRECTIVE.lastIndex;
    const name = match[1]!.toLowerCase();
    const value = match[2]?.replaceAll(/\\(.)/g, "$1") ?? match[3] ?? null;
    found.set(name, found.has(name) ? stricter(found.get(name)!, value) : value);
  }
  return found;
}

/** Of two arguments of one directive the shorter time counts. RFC 9111 §4.2.1. */
function stricter(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return null;
  if (/^\d+$/.test(one) && /^\d+$/.test(other)) return Number(one) <= Number(other) ? one : other;
  return `${one},${other}`;
}

/** A time in seconds; 0 when it is no whole number, which makes stale; null without the directive. */
export function secondsOf(directives: Directives, name: string): number | null {
  const value = directives.get(name);
  if (value === undefined) return null;
  return value !== null && /^\d+$/.test(value) ? Math.min(Number(value), MAX_SECONDS) : 0;
}
