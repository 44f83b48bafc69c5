/** Things that must happen within one span of time, and of which nearly all do: one timer looks after all of them. */

export interface Awaited {
  /** It did not happen in time. Called once, and nobody waits for it any more. */
  late(): void;
}

/**
 * Something that is waited for. They stand in a list of their own making: a Map that takes thousands in and out each
 * second leaves tables behind that keep what was in them from being collected early.
 */
export interface Wait {
  readonly awaited: Awaited;
  readonly since: number;
  isOver: boolean;
  older: Wait | null;
  newer: Wait | null;
}

export class Deadlines {
  readonly ms: number;
  #oldest: Wait | null = null;
  #newest: Wait | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(ms: number) {
    this.ms = ms;
  }

  /** It is waited for from now on. */
  add(awaited: Awaited): Wait {
    const older = this.#newest;
    const wait = { awaited, since: performance.now(), isOver: false, older, newer: null };
    if (older === null) this.#oldest = wait;
    else older.newer = wait;
    this.#newest = wait;
    if (this.#timer === null) this.#wakeIn(this.ms);
    return wait;
  }

  /** It has happened, or nobody cares any more. */
  end(wait: Wait): void {
    if (wait.isOver) return;
    wait.isOver = true;
    if (wait.older === null) this.#oldest = wait.newer;
    else wait.older.newer = wait.newer;
    if (wait.newer === null) this.#newest = wait.older;
    else wait.newer.older = wait.older;
    wait.older = wait.newer = null;
  }

  #wakeIn(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    const now = performance.now();
    for (let wait = this.#oldest; wait !== null; wait = this.#oldest) {
      const left = wait.since + this.ms - now;
      if (left > 0) return this.#wakeIn(left);
      this.end(wait);
      wait.awaited.late();
    }
    this.#timer = null;
  }
}
