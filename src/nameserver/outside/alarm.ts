/** One timer for whatever is due first. */

/** Calls back after a time; returns what cancels that. */
export type After = (ms: number, call: () => void) => () => void;

/** The system's timer, which keeps no process alive. */
export const systemAfter: After = (ms, call) => {
  const timer = setTimeout(call, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

export class Alarm {
  readonly #now: () => number;
  readonly #after: After;
  readonly #ring: () => void;
  #set: { readonly at: number; readonly cancel: () => void } | null = null;

  constructor({ now, after }: { now: () => number; after: After }, ring: () => void) {
    this.#now = now;
    this.#after = after;
    this.#ring = ring;
  }

  /** Rings at that time, unless it is set for an earlier one. */
  setFor(at: number): void {
    if (this.#set !== null && this.#set.at <= at) return;
    this.cancel();
    const ring = (): void => {
      this.#set = null;
      this.#ring();
    };
    this.#set = { at, cancel: this.#after(Math.max(0, at - this.#now()), ring) };
  }

  cancel(): void {
    this.#set?.cancel();
    this.#set = null;
  }
}
