/** What the store will not do, in the words and exit codes of the command line. */
import { CliFault, type CliFaultKind } from "./fault.ts";

/** By the store's code; what is not here has simply failed. */
const known: Readonly<Record<number, readonly [kind: CliFaultKind, advice: string]>> = {
  10_002: ["not-allowed", "Check SELVEDGE_TOKEN, or SELVEDGE_EMAIL and SELVEDGE_KEY, or --data."],
  10_003: ["not-allowed", "The token or key may not do this."],
  10_005: ["usage", "It has 3 to 63 of a-z, 0-9 and -, with a letter or digit at both ends."],
  10_020: ["usage", "A key has 1 to 1024 bytes of UTF-8."],
  10_006: ["not-found", '"selvedge bucket list" shows those that there are.'],
  10_007: ["not-found", ""],
};

/** Null when the error is not one of the store's: `get: … (10006)`. */
export function storeFault(error: unknown): CliFault | null {
  const match = error instanceof Error ? /^\w+: (.*?)\.? \((\d+)\)$/s.exec(error.message) : null;
  if (match === null) return null;
  const [kind, advice] = known[Number(match[2])] ?? ["failed", ""];
  const message = `${match[1]} (${match[2]}). ${advice}`.trim();
  return new CliFault(kind, message, { cause: error });
}
