/** What the look-up of names outside counts, for those who watch it. */

/** Totals since the start. */
export interface OutsideCounts {
  /** Resolutions by what came of them. */
  addresses: number;
  nodata: number;
  /** A resolver answered that it could not tell. */
  unreachable: number;
  /** No resolver answered. */
  networkError: number;
  /** Not resolved, since too many others were being. */
  busy: number;
  /** Resolutions that took longer than their clients wait. */
  late: number;
  /** Times that an old entry was published again for lack of a new one. */
  stale: number;
  /** Forgotten to make room. */
  evicted: number;
}

export interface OutsideCounters extends OutsideCounts {
  /** How many names and types something is known of, now. */
  readonly entries: number;
  /** How many resolutions are under way, now. */
  readonly flights: number;
}

export function newCounts(): OutsideCounts {
  return {
    addresses: 0,
    nodata: 0,
    unreachable: 0,
    networkError: 0,
    busy: 0,
    late: 0,
    stale: 0,
    evicted: 0,
  };
}
