/** `range`: offset and length, suffix, or the Range header. */
import { isObject, wrongField } from "./convert.ts";

export interface GivenRange {
  readonly offset: number | undefined;
  readonly length: number | undefined;
  readonly suffix: number | undefined;
}

export interface RequestedRange {
  range?: { offset?: number; length?: number; suffix?: number };
  rangeHeader?: string;
}

/** Holds the value to its type. What it says is looked at when all arguments have theirs. */
export function readRange(value: unknown): GivenRange | Headers | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Headers) return value;
  if (!isObject(value)) throw wrongField("range", "GetOptions", "Range or Headers");
  return {
    offset: numberField(value["offset"]),
    length: numberField(value["length"]),
    suffix: numberField(value["suffix"]),
  };
}

function numberField(value: unknown): number | undefined {
  return value === undefined ? undefined : +(value as object);
}

export function toRange(given: GivenRange | Headers | undefined): RequestedRange {
  if (given === undefined) return {};
  if (given instanceof Headers) {
    const rangeHeader = given.get("range");
    return rangeHeader === null || rangeHeader === "" ? {} : { rangeHeader };
  }
  const { offset, length, suffix } = given;
  if (offset !== undefined) check(offset, "range", "Starting offset");
  if (length !== undefined) check(length, "range", "Length");
  if (suffix !== undefined) {
    if (offset !== undefined) throw new TypeError("Suffix is incompatible with offset.");
    if (length !== undefined) throw new TypeError("Suffix is incompatible with length.");
    check(suffix, "suffix", "Suffix");
    return { range: { suffix: sendable(suffix) } };
  }
  if (offset === undefined && length === undefined) return {};
  return {
    range: {
      ...(offset !== undefined && { offset: sendable(offset) }),
      ...(length !== undefined && { length: sendable(length) }),
    },
  };
}

/** JSON has no infinity, and no object is as large as what is cut here. */
function sendable(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function check(value: number, kind: "range" | "suffix", name: string): void {
  if (!(value >= 0)) {
    throw new RangeError(
      `Invalid ${kind}. ${name} (${printed(value)}) must be greater than or equal to 0.`,
    );
  }
  if (Number.isFinite(value) && !Number.isInteger(value)) {
    // The original says "range" here for the suffix, too.
    throw new RangeError(
      `Invalid range. ${name} (${printed(value)}) must be an integer, not floating point.`,
    );
  }
}

/** As the original's runtime, which is written in C++, prints a number. */
function printed(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  const isShort = Number(value.toPrecision(15)) === value;
  return (isShort ? String(value) : value.toPrecision(17)).replace("e+", "e");
}
