/** The Range header. RFC 9110 §14.2. */
import type { RangeRequest } from "#objects";

const RANGE = /^bytes=(\d*)-(\d*)$/;

/**
 * Undefined for what goes unheard: several ranges, other units, an end before the start. S3 sends the
 * whole object then.
 */
export function rangeOf(header: string | undefined): RangeRequest | undefined {
  const match = header === undefined ? null : RANGE.exec(header.trim());
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
