/** Carries lifecycle rules out again and again. */
import { setTimeout } from "node:timers/promises";
import type { CarriedOut, Lifecycle } from "./lifecycle.ts";

export interface LifecycleWorkOptions {
  readonly onError: (error: unknown) => void;
  /** Hears what each pass has done. */
  readonly onDone?: (done: CarriedOut) => void;
}

/** Between two looks, each one small query, whether a day has begun or another node was given rules. */
const EVERY_MS = 60_000;

export interface LifecycleWork extends AsyncDisposable {
  /** Rules have changed here. */
  wake(): void;
}

export function keepGoing(
  lifecycle: Lifecycle,
  { onError, onDone = () => {} }: LifecycleWorkOptions,
): LifecycleWork {
  const stop = new AbortController();
  let news = Promise.withResolvers<void>();
  const repeat = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      news = Promise.withResolvers<void>();
      await lifecycle.run().then(onDone, onError);
      const pause = new AbortController();
      const paused = setTimeout(EVERY_MS, undefined, { signal: pause.signal, ref: false });
      await Promise.race([paused.catch(() => {}), news.promise]);
      pause.abort();
    }
  };
  const over = repeat();
  return {
    wake: () => news.resolve(),
    async [Symbol.asyncDispose]() {
      stop.abort();
      lifecycle.stop();
      news.resolve();
      await over;
    },
  };
}
