/** The part of a body that a request wants. RFC 9110 §14. */

/** From its first octet up to the one after its last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** All of it is sent too when the field is none we know, or wants several parts: it may be left aside. */
export type Wanted = Span | "whole" | "unsatisfiable";

export function wantedPart(range: string, length: number): Wanted {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(range.trim());
  if (match === null) return "whole";
  const [first, last] = [match[1]!, match[2]!];
  if (first === "") {
    if (last === "") return "whole";
    const start = Math.max(0, length - Number(last));
    return Number(last) === 0 || length === 0 ? "unsatisfiable" : { start, end: length };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return "whole"; // Malformed: as if it had not come.
  if (start >= length) return "unsatisfiable";
  return { start, end: last === "" ? length : Math.min(Number(last) + 1, length) };
}
