/** Ids that tie an answer to its lines in the log: unique, and cheaper than random ones. */
import { randomHex } from "#kit/random.ts";

const COUNTER_DIGITS = 12;

/** 32 hex digits: this source's own, then a count. */
export function requestIds(): () => string {
  const prefix = randomHex(32 - COUNTER_DIGITS);
  let count = 0;
  return () => prefix + (++count).toString(16).padStart(COUNTER_DIGITS, "0");
}
