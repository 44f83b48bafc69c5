/** Counts events per key in fixed windows of time, with bounded memory. */

export interface WindowLimitOptions {
  /** How many events a window admits. */
  readonly quota: number;
  readonly windowSeconds: number;
  /** How many keys are remembered; past it the one unseen for longest is forgotten. */
  readonly keys: number;
}

/** Where a key stands: `left` events until `resetSeconds` have passed. */
export interface WindowState {
  readonly exceeded: boolean;
  readonly left: number;
  readonly resetSeconds: number;
}

export class WindowLimit {
  readonly options: WindowLimitOptions;
  readonly #windows = new Map<string, { count: number; endsAt: number }>();

  constructor(options: WindowLimitOptions) {
    this.options = options;
  }

  /** Whether no key has been counted: the common case, worth no further look. */
  get isEmpty(): boolean {
    return this.#windows.size === 0;
  }

  /** Counts one event and tells where that leaves the key. */
  count(key: string, now: number): WindowState {
    let window = this.#windows.get(key);
    if (window === undefined || window.endsAt <= now) {
      window = { count: 0, endsAt: now + this.options.windowSeconds * 1000 };
    }
    window.count++;
    this.#windows.delete(key); // Set again, so that the map's order is that of last use.
    this.#windows.set(key, window);
    if (this.#windows.size > this.options.keys) this.#forgetOldest();
    return this.#state(window, window.count > this.options.quota, now);
  }

  /** Where the key stands, without counting. */
  peek(key: string, now: number): WindowState {
    const window = this.#windows.get(key);
    if (window === undefined || window.endsAt <= now) {
      return { exceeded: false, left: this.options.quota, resetSeconds: 0 };
    }
    return this.#state(window, window.count >= this.options.quota, now);
  }

  #state(window: { count: number; endsAt: number }, exceeded: boolean, now: number): WindowState {
    return {
      exceeded,
      left: Math.max(0, this.options.quota - window.count),
      resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1000)),
    };
  }

  #forgetOldest(): void {
    for (const key of this.#windows.keys()) {
      this.#windows.delete(key);
      return;
    }
  }
}
