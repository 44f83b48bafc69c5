/** Counts of responses by RCODE and type, in memory that a thread shares with the main one. */

const RCODES = 24;
const TYPES = 258;
const OTHER = RCODES + TYPES;

/** Numbers that one responder counts in. Doubles count exactly to 2^53; 32 bits would be full within hours. */
export const RESPONSE_COUNTERS = OTHER + 2;

export class ResponseCounters {
  readonly #words: Float64Array;

  constructor(words: Float64Array) {
    this.#words = words;
  }

  count(rcode: number, type: number): void {
    this.#words[rcode]!++;
    this.#words[type < TYPES ? RCODES + type : OTHER]!++;
  }

  /** A response that the rate limit held back. */
  countLimited(): void {
    this.#words[OTHER + 1]!++;
  }
}

/** What all responders have counted. */
export interface Responses {
  readonly rcodes: Float64Array;
  readonly types: Float64Array;
  readonly otherTypes: number;
  readonly limited: number;
}

export function readResponses(shared: SharedArrayBuffer): Responses {
  const all = new Float64Array(shared);
  const sums = new Float64Array(RESPONSE_COUNTERS);
  all.forEach((count, i) => (sums[i % RESPONSE_COUNTERS]! += count));
  return {
    rcodes: sums.subarray(0, RCODES),
    types: sums.subarray(RCODES, OTHER),
    otherTypes: sums[OTHER]!,
    limited: sums[OTHER + 1]!,
  };
}
