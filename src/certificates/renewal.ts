/** When a certificate is renewed, and when what failed is tried again. */

const MINUTE_MS = 60_000;
/** Authorities allow some five failures an hour for a name. */
const FIRST_RETRY_MS = 5 * MINUTE_MS;
const LAST_RETRY_MS = 24 * 60 * MINUTE_MS;
/** A server may ask for more than that, within reason. */
const MAX_RETRY_AFTER_MS = 7 * LAST_RETRY_MS;
/** Renewals that were issued on the same day come apart. */
const RENEWAL_SPREAD = 0.05;
const RETRY_SPREAD = 0.1;

/** With a third of its life left, or somewhat earlier. `chance` is from 0 up to 1. */
export function renewalTime(
  { notBefore, notAfter }: { readonly notBefore: number; readonly notAfter: number },
  chance: number,
): number {
  const life = notAfter - notBefore;
  return Math.floor(notAfter - life / 3 - chance * RENEWAL_SPREAD * life);
}

/** The wait doubles with each failure, and is never shorter than what the server asked for. */
export function retryTime(
  now: number,
  failures: number,
  retryAfterMs: number | null,
  chance: number,
): number {
  const wait = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS);
  const asked = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return Math.ceil(now + Math.max(wait, asked) * (1 + chance * RETRY_SPREAD));
}
