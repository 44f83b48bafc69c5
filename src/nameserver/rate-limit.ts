/**
 * Limits responses to one network about one thing, so that the server is no use for attacks on others.
 * What is over the limit is dropped, but for every second one, which tells a real client to come over TCP.
 */
import { randomBytes } from "node:crypto";
import { parseRange } from "./address-range.ts";

export interface RateLimitSettings {
  /** Answers a second to one network for one name. */
  readonly answers: number;
  /** Negative answers, referrals and errors a second to one network for one zone. */
  readonly others: number;
  /** Ranges that are not limited. */
  readonly exempt: readonly string[];
  /** The table, which all threads share. They may miscount each other by a few, which does no harm. */
  readonly table: SharedArrayBuffer;
}

/** What becomes of a response. */
export const LIMIT = { pass: 0, drop: 1, slip: 2 } as const;

/** What a response is: each has a rate of its own. */
export const ABOUT = { answer: 0, denial: 1, error: 2 } as const;

/** A bucket may be overdrawn for as many seconds as it fills: an attack stays limited while it goes on. */
const WINDOW_SECONDS = 15;
/** Words of a bucket: whose it is, when it was filled last (ms), what is left (thousandths), and slips. */
const BUCKET = { key: 0, filledAt: 1, left: 2, slips: 3, words: 4 } as const;
/** Half a megabyte of buckets; networks that meet in one share it. */
const BUCKETS = 1 << 15;
const UNIT = 1000;
/** What a word can hold: some two million answers overdrawn. */
const LEAST = -(2 ** 31);
/** The clock has 32 bits and goes round in 50 days. */
const CLOCK_ROUND_MS = 2 ** 32;
/** A thread's time may be so much behind another's: it is that of its batch, or the clock was set back. */
const BEHIND_MS = 60_000;

/** Its last word is a secret: nobody can look for networks that meet in a bucket. */
export function rateLimitTable(): SharedArrayBuffer {
  const table = new Int32Array(
    new SharedArrayBuffer((BUCKETS * BUCKET.words + 1) * Int32Array.BYTES_PER_ELEMENT),
  );
  table[table.length - 1] = randomBytes(4).readInt32LE();
  return table.buffer;
}

export class RateLimit {
  readonly #rates: readonly [number, number, number];
  readonly #exempt: readonly { readonly octets: Uint8Array; readonly bits: number }[];
  readonly #table: Int32Array;
  readonly #secret: number;
  #now = 0;

  constructor({ answers, others, exempt, table }: RateLimitSettings) {
    this.#rates = [answers, others, others];
    this.#exempt = exempt.map(parseRange);
    this.#table = new Int32Array(table);
    this.#secret = this.#table.at(-1)!;
  }

  begin(nowMs: number): void {
    this.#now = nowMs | 0;
  }

  isExempt(address: Uint8Array, length: number): boolean {
    for (let i = 0; i < this.#exempt.length; i++) {
      const { octets, bits } = this.#exempt[i]!;
      if (octets.length === length && sharesPrefix(address, octets, bits)) return true;
    }
    return false;
  }

  /** `subject` is what the response is about: a name, or a zone. */
  check(address: Uint8Array, length: number, about: number, subject: number): number {
    const rate = this.#rates[about]!;
    if (rate === 0) return LIMIT.pass;
    const table = this.#table;
    // A /24 or a /56 is what one network commands.
    let key = Math.imul(subject ^ about ^ this.#secret, 0x9e37_79b1);
    for (let i = 0; i < (length === 4 ? 3 : 7); i++)
      key = Math.imul(key ^ address[i]!, 0x0100_0193);
    key ^= key >>> 15;
    const at = this.#bucketOf(key, rate);
    const left = Math.max(this.#left(at, rate) - UNIT, -rate * UNIT * WINDOW_SECONDS, LEAST);
    if ((this.#now - table[at + BUCKET.filledAt]!) >>> 0 < CLOCK_ROUND_MS - BEHIND_MS) {
      table[at + BUCKET.filledAt] = this.#now;
    }
    table[at + BUCKET.left] = left;
    if (left >= 0) return LIMIT.pass;
    return (table[at + BUCKET.slips]!++ & 1) === 0 ? LIMIT.drop : LIMIT.slip;
  }

  /**
   * The bucket of a key: one of two. A bucket that is full has no news to keep and can be taken over; when
   * neither is, the key shares the first with whoever has it. So a takeover never fills a bucket.
   */
  #bucketOf(key: number, rate: number): number {
    const table = this.#table;
    const first = (key & (BUCKETS - 1)) * BUCKET.words;
    if (table[first + BUCKET.key] === key) return first;
    const second = ((key >>> 15) & (BUCKETS - 1)) * BUCKET.words;
    if (table[second + BUCKET.key] === key) return second;
    const free = this.#left(first, rate) >= rate * UNIT ? first : second;
    if (this.#left(free, rate) < rate * UNIT) return first;
    table[free + BUCKET.key] = key;
    return free;
  }

  /** What a bucket holds by now. */
  #left(at: number, rate: number): number {
    const elapsed = (this.#now - this.#table[at + BUCKET.filledAt]!) >>> 0;
    const left = this.#table[at + BUCKET.left]!;
    if (elapsed >= CLOCK_ROUND_MS - BEHIND_MS) return left;
    return Math.min(rate * UNIT, left + Math.min(elapsed, 1000 * WINDOW_SECONDS) * rate);
  }
}

function sharesPrefix(address: Uint8Array, octets: Uint8Array, bits: number): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (address[i] !== octets[i]) return false;
  const rest = bits & 7;
  return rest === 0 || (address[whole]! ^ octets[whole]!) >> (8 - rest) === 0;
}
