/** Figures of a thread, in memory that the main thread reads too. They go on when the thread is started again. */

/** The upper bounds of the histogram, in seconds. */
export const DURATIONS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

/** One for each status that can be. */
const STATUSES = 1000;

/** How many figures each has, in their order. */
const SIZES = {
  statuses: STATUSES,
  durations: DURATIONS.length + 1,
  seconds: 1,
  turnedAway: 1,
} as const;

const OCTETS =
  Object.values(SIZES).reduce((sum, size) => sum + size, 0) * Float64Array.BYTES_PER_ELEMENT;

export class EdgeCounters {
  readonly shared: SharedArrayBuffer;
  /** Answers, by status. */
  readonly statuses: Float64Array;
  /** By the bound that a request stayed within; the last is beyond all. */
  readonly durations: Float64Array;
  readonly #seconds: Float64Array;
  readonly #turnedAway: Float64Array;

  constructor(shared = new SharedArrayBuffer(OCTETS)) {
    this.shared = shared;
    let at = 0;
    const next = (size: number) => {
      const figures = new Float64Array(shared, at, size);
      at += figures.byteLength;
      return figures;
    };
    this.statuses = next(SIZES.statuses);
    this.durations = next(SIZES.durations);
    this.#seconds = next(SIZES.seconds);
    this.#turnedAway = next(SIZES.turnedAway);
  }

  /** All requests together. */
  get seconds(): number {
    return this.#seconds[0]!;
  }

  get turnedAway(): number {
    return this.#turnedAway[0]!;
  }

  answered(status: number, seconds: number): void {
    this.statuses[status]!++;
    this.#seconds[0]! += seconds;
    let bucket = 0;
    while (bucket < DURATIONS.length && seconds > DURATIONS[bucket]!) bucket++;
    this.durations[bucket]!++;
  }

  turnAway(): void {
    this.#turnedAway[0]!++;
  }
}
