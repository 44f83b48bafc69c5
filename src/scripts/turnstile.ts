/** Lets a few through at a time. Who takes too long goes on beside the next, so that nobody holds up the others. */

export class Turnstile {
  readonly #holdMs: number;
  readonly #inLine: (() => void)[] = [];
  #free: number;

  constructor(places: number, holdMs: number) {
    this.#free = places;
    this.#holdMs = holdMs;
  }

  /** Waits for a place; it is given back when disposed of, or when its time is over. */
  async enter(): Promise<Disposable> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#inLine.push(resolve));
    const leave = () => {
      if (timer === null) return;
      clearTimeout(timer);
      timer = null;
      this.#next();
    };
    let timer: NodeJS.Timeout | null = setTimeout(leave, this.#holdMs).unref();
    return { [Symbol.dispose]: leave };
  }

  /** A place that is free goes to the one who has waited longest. */
  #next(): void {
    const first = this.#inLine.shift();
    if (first === undefined) this.#free++;
    else first();
  }
}
