/**
 * What the UDP side counts. Each thread writes a block of its own in shared memory, without atomics:
 * it is the only writer, and a reader that sees a figure a moment late is no worse off.
 */

/** Places in a block. Doubles count exactly to 2^53; 32-bit words would be full within hours. */
export const COUNTER = {
  received: 0,
  answered: 1,
  deferred: 2,
  batches: 3,
  noResponse: 4,
  fault: 5,
  sendFailed: 6,
  deferredFull: 7,
  badSource: 8,
  latencySum: 9,
  latency: 10,
} as const;

/** Upper ends of the latency buckets: from one quick batch to a wait that clients notice. */
const LATENCY_BOUNDS_SECONDS: readonly number[] = [
  0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
];

const BLOCK_LENGTH = COUNTER.latency + LATENCY_BOUNDS_SECONDS.length + 1;
export const COUNTER_BYTES = BLOCK_LENGTH * Float64Array.BYTES_PER_ELEMENT;

/** The figures of all threads together, since the start. */
export interface UdpCounters {
  readonly received: number;
  /** Replies that the kernel took. */
  readonly answered: number;
  /** Queries handed to the main thread because they need an outside name. */
  readonly deferred: number;
  readonly batches: number;
  readonly dropped: {
    /** The responder wanted none: not a query, or over a rate limit. */
    readonly noResponse: number;
    /** The responder failed. */
    readonly fault: number;
    readonly sendFailed: number;
    /** Too many others waited for outside names. */
    readonly deferredFull: number;
    /** Source port 0, where no reply can go. */
    readonly badSource: number;
  };
  /** From a batch's arrival to its departure, counted once for each of its queries. */
  readonly latency: {
    readonly boundsSeconds: readonly number[];
    /** By bucket, one more than there are bounds. */
    readonly counts: readonly number[];
    readonly sumSeconds: number;
  };
  /** How evenly the kernel spreads the queries. */
  readonly receivedByThread: readonly number[];
  readonly restarts: number;
}

/** Counts a batch that took this long. */
export function observeBatch(block: Float64Array, queries: number, seconds: number): void {
  block[COUNTER.received]! += queries;
  block[COUNTER.batches]!++;
  block[COUNTER.latencySum]! += queries * seconds;
  let bucket = 0;
  while (bucket < LATENCY_BOUNDS_SECONDS.length && seconds > LATENCY_BOUNDS_SECONDS[bucket]!) {
    bucket++;
  }
  block[COUNTER.latency + bucket]! += queries;
}

/** Adds the threads' blocks, and the one of the main thread's late answers. */
export function readCounters(
  threads: readonly Float64Array[],
  late: Float64Array,
  restarts: number,
): UdpCounters {
  const total = Float64Array.from(late);
  for (const block of threads) block.forEach((count, i) => (total[i]! += count));
  const at = (place: number): number => total[place]!;
  return {
    received: at(COUNTER.received),
    answered: at(COUNTER.answered),
    deferred: at(COUNTER.deferred),
    batches: at(COUNTER.batches),
    dropped: {
      noResponse: at(COUNTER.noResponse),
      fault: at(COUNTER.fault),
      sendFailed: at(COUNTER.sendFailed),
      deferredFull: at(COUNTER.deferredFull),
      badSource: at(COUNTER.badSource),
    },
    latency: {
      boundsSeconds: LATENCY_BOUNDS_SECONDS,
      counts: [...total.subarray(COUNTER.latency)],
      sumSeconds: at(COUNTER.latencySum),
    },
    receivedByThread: threads.map((block) => block[COUNTER.received]!),
    restarts,
  };
}
