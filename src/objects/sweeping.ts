/** Sweeps the store again and again, and soon after something was thrown away. */
import { setTimeout } from "node:timers/promises";
import type { Garbage } from "./garbage.ts";
import type { Sweep, Swept } from "./sweep.ts";

export interface SweepingOptions {
  readonly onError: (error: unknown) => void;
  /** Hears what each pass has done. */
  readonly onSwept?: (swept: Swept) => void;
  readonly everyMs?: number;
}

const EVERY_MS = 60_000;
/** A pass looks through all blobs when it is the first, and then so often. */
const ORPHANS_EVERY_MS = 86_400_000;
/** From the first garbage to its collection: much comes together, and is deleted together. */
const SOON_MS = 500;

export function keepSweeping(
  sweep: Sweep,
  /** Null where others share the store: what they read must be left for a while. */
  garbage: Garbage | null,
  { onError, onSwept = () => {}, everyMs = EVERY_MS }: SweepingOptions,
): AsyncDisposable {
  const stop = new AbortController();
  const over = repeat();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      sweep.stop();
      await over;
    },
  };

  async function repeat(): Promise<void> {
    let orphansAt = -Infinity;
    while (!stop.signal.aborted) {
      const garbageMade = Promise.withResolvers<void>();
      if (garbage !== null) garbage.onMade = garbageMade.resolve;
      const orphans = performance.now() - orphansAt >= ORPHANS_EVERY_MS;
      if (orphans) orphansAt = performance.now();
      await sweep.run({ orphans }).then(onSwept, onError);
      await either(garbageMade.promise, everyMs);
    }
    if (garbage !== null) garbage.onMade = null;
  }

  /** Waits so long, or until a little after it happens. */
  async function either(happens: Promise<void>, ms: number): Promise<void> {
    const cut = new AbortController();
    const signal = AbortSignal.any([stop.signal, cut.signal]);
    await Promise.race([pause(ms, signal), happens]);
    cut.abort();
    await pause(Math.min(SOON_MS, ms), stop.signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return setTimeout(ms, undefined, { signal, ref: false }).catch(() => {});
}
