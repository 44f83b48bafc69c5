/** Digests in record data have the length of their kind. */
import { RecordFault } from "./fault.ts";

/** A fault when the digest has not this many octets; a kind that nobody knows may have any. */
export function checkDigest(
  field: string,
  digest: Uint8Array,
  octets: number | undefined,
): RecordFault | null {
  if (octets === undefined || digest.length === octets) return null;
  return new RecordFault(
    "bad-field",
    field,
    `The ${field} has ${digest.length} octets; its kind has ${octets}`,
  );
}

/** A fault when a number is not among those that are defined. */
export function checkAmong(
  field: string,
  value: number,
  defined: readonly number[],
): RecordFault | null {
  if (defined.includes(value)) return null;
  return new RecordFault(
    "bad-field",
    field,
    `The ${field} ${value} is not one of ${defined.join(", ")}`,
  );
}
