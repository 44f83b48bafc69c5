/** Figures of the stream thread, in memory that the main thread reads too. */

/** Where each stands. */
export const COUNT = {
  connections: 0,
  accepted: 1,
  turnedAway: 2,
  pushedOut: 3,
  timedOut: 4,
  failedHandshakes: 5,
  queries: 6,
  answers: 7,
  deferred: 8,
} as const;

export type StreamCounters = Readonly<Record<keyof typeof COUNT, number>>;

export function sharedCounters(): SharedArrayBuffer {
  return new SharedArrayBuffer(Object.keys(COUNT).length * Float64Array.BYTES_PER_ELEMENT);
}

/** Only one thread writes, so a plain read sees a figure as it is or as it just was. */
export function readCounters(shared: SharedArrayBuffer): StreamCounters {
  const counts = new Float64Array(shared);
  return Object.fromEntries(
    Object.entries(COUNT).map(([name, at]) => [name, counts[at]!]),
  ) as StreamCounters;
}
