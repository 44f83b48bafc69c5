/** `range`: offset and length, suffix, or the Range header. */
import { wrongField } from "./convert.ts";

export interface RequestedRange {
  range?: { offset?: number; length?: number; suffix?: number };
  rangeHeader?: string;
}

export function toRange(value: unknown): RequestedRange {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" && typeof value !== "function") {
    throw wrongField("range", "GetOptions", "Range or Headers");
  }
  if (value instanceof Headers) {
    const rangeHeader = value.get("range");
    return rangeHeader === null || rangeHeader === "" ? {} : { rangeHeader };
  }
  const given = value as Record<string, unknown>;
  const offset = numberField(given["offset"]);
  const length = numberField(given["length"]);
  const suffix = numberField(given["suffix"]);
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

function numberField(value: unknown): number | undefined {
  return value === undefined ? undefined : +(value as number);
}

/** Beyond any object, and beyond JSON: the store refuses -1 as it would refuse the number itself. */
function sendable(value: number): number {
  return Number.isSafeInteger(value) ? value : -1;
}

function check(value: number, kind: "range" | "suffix", name: string): void {
  if (!(value >= 0)) {
    const shown = Number.isNaN(value) ? "nan" : String(value);
    throw new RangeError(`Invalid ${kind}. ${name} (${shown}) must be greater than or equal to 0.`);
  }
  if (Number.isFinite(value) && !Number.isInteger(value)) {
    // The original says "range" here for the suffix, too.
    throw new RangeError(
      `Invalid range. ${name} (${value}) must be an integer, not floating point.`,
    );
  }
}
