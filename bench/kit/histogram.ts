/** Latencies in buckets of a fixed number: recording one allocates nothing, however many there are. */

/** A bucket is 2.2 % wide: finer than two runs agree. */
const BUCKETS_PER_DOUBLING = 32;

/** From 1 µs to 67 s; what lies outside counts in the bucket at the edge. */
const DOUBLINGS = 26;

export class Histogram {
  readonly #counts = new Uint32Array(DOUBLINGS * BUCKETS_PER_DOUBLING);
  #total = 0;

  get total(): number {
    return this.#total;
  }

  record(micros: number): void {
    const bucket = micros <= 1 ? 0 : Math.floor(Math.log2(micros) * BUCKETS_PER_DOUBLING);
    this.#counts[Math.min(bucket, this.#counts.length - 1)]!++;
    this.#total++;
  }

  /** The latency that this share of all stays within, as the middle of its bucket; 0 when empty. */
  quantile(share: number): number {
    const rank = Math.max(1, Math.ceil(this.#total * share));
    let seen = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= rank) return 2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING);
    }
    return 0;
  }
}
