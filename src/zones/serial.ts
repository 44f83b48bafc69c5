/** Serials of zones: they rise with every change, and look like the time of it. */

const MAX_SERIAL = 0xffff_ffff;

/** One more than the last, or the time in seconds where that is more. RFC 1982 for the wrap. */
export function nextSerial(last: number, now: number): number {
  const next = Math.max(last + 1, Math.floor(now / 1000));
  return next > MAX_SERIAL ? 1 : next;
}
