/** How long a script that keeps failing is left alone. */

/** The first fall may be chance: it is forgiven at once, so that others hardly notice. */
const FIRST_MS = 250;
const LONGEST_MS = 30_000;
/** A process that has run for so long is not one that falls at once. */
const STEADY_MS = 10_000;

export class BackOff {
  readonly #now: () => number;
  #failures = 0;
  #until = 0;
  #why: Error | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Why it is left alone for now; null when it may be tried. */
  get reason(): Error | null {
    return this.#now() < this.#until ? this.#why : null;
  }

  /** It did not start. */
  failed(why: Error): void {
    this.#failures++;
    this.#wait(this.#failures, why);
  }

  /** It ran for a while, and then ended by itself or was ended. */
  fell(ranMs: number, why: Error): void {
    this.#failures = ranMs >= STEADY_MS ? 1 : this.#failures + 1;
    this.#wait(this.#failures - 1, why);
  }

  reset(): void {
    this.#failures = 0;
    this.#until = 0;
  }

  #wait(times: number, why: Error): void {
    const ms = times === 0 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** (times - 1));
    this.#until = this.#now() + ms;
    this.#why = why;
  }
}
