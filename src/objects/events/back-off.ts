/** When something that failed is tried again, and when no more. */

const FIRST_MS = 1_000;
const MAX_MS = 3_600_000;
/** After a day nobody waits for it; but it must have been tried, however long the server was down. */
const GIVE_UP_AFTER_MS = 86_400_000;
const LEAST_ATTEMPTS = 3;

/** Twice as long after each, up to an hour; by `random` from 0 to 1 up to half of it less, so that not all come at once. */
export function backOffMs(failures: number, random: number): number {
  const longest = Math.min(MAX_MS, FIRST_MS * 2 ** (failures - 1));
  return Math.round(longest * (1 - random / 2));
}

export function isGivenUp(attempts: number, ageMs: number): boolean {
  return ageMs > GIVE_UP_AFTER_MS && attempts >= LEAST_ATTEMPTS;
}
