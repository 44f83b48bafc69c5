/** The Range header of a get. RFC 9110 §14.2. */
import type { RangeRequest } from "#objects";

/**
 * One range of octets. What is no such range, or lies outside the object, is left aside and the whole
 * object given, as the original's simulator does.
 */
export function parseRangeHeader(text: string, size: number): RangeRequest | undefined {
  const match = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(text);
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "") {
    const suffix = Number(last);
    return suffix === 0 || size === 0 ? undefined : { suffix: Math.min(suffix, size) };
  }
  const offset = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  return offset >= size || (last !== "" && Number(last) < offset)
    ? undefined
    : { offset, length: end - offset + 1 };
}
