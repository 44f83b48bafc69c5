/** The Range header of a get. RFC 9110 §14.2. */

export type AskedRange =
  | { readonly offset: number; readonly length?: number }
  | { readonly suffix: number };

/**
 * One range of octets; undefined for anything else (several ranges, other units, an end before the start), which is
 * left aside as if no header had come.
 */
export function parseRangeHeader(text: string): AskedRange | undefined {
  const match = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(text);
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "") return last === "" ? undefined : { suffix: count(last) };
  const offset = count(first);
  if (last === "") return { offset };
  const length = Math.min(count(last) - offset + 1, Number.MAX_SAFE_INTEGER);
  return length > 0 ? { offset, length } : undefined;
}

/** More digits than an object can have octets mean the end of it. */
function count(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}
