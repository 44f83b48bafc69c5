/** The process of one script over time: started, replaced by the next, started again. */
import { ScriptFault } from "../fault.ts";
import { BackOff } from "./back-off.ts";
import type { Running } from "./launcher.ts";
import type { ScriptPlace } from "./types.ts";
import type { WorkerdProcess } from "./workerd-process.ts";

/** How often a request tries when processes end under it before it has a place. */
const ATTEMPTS = 3;

/** A place, and the process that it is in. */
export interface HeldPlace extends ScriptPlace {
  readonly process: WorkerdProcess;
}

export interface SlotOptions {
  /** Starts what is to run now, or hands over a process that waits for this. */
  readonly launch: () => Promise<Running>;
  readonly now: () => number;
}

export class ScriptSlot {
  readonly #options: SlotOptions;
  readonly #backOff: BackOff;
  #current: Running | null = null;
  /** Counts what should run; `#has` is what does. */
  #wanted = 0;
  #has = -1;
  #updating: Promise<void> | null = null;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#backOff = new BackOff(options.now);
  }

  get current(): Running | null {
    return this.#current;
  }

  get isActive(): boolean {
    return this.#current?.process.isOpen === true || this.#updating !== null;
  }

  /** A place for one request, with what should run now; with what ran before if that does not start. */
  async place(): Promise<HeldPlace> {
    if (this.#current?.process.isDoubtful === true) await this.#current.process.seeIfThere();
    for (let attempt = 1; ; attempt++) {
      const open = this.#open();
      if (open !== null && this.#has === this.#wanted) return placeIn(open);
      const reason = this.#backOff.reason;
      if (reason !== null) {
        if (open !== null) return placeIn(open);
        throw notNow(reason);
      }
      try {
        await this.#update();
      } catch (error) {
        const old = this.#open();
        if (old === null) throw error;
        return placeIn(old);
      }
      if (attempt === ATTEMPTS) throw notNow(this.#current?.process.fault ?? null);
    }
  }

  /** Something else should run. A process that runs is replaced at once, and one that does not started when asked for. */
  change(): void {
    this.#wanted++;
    this.#backOff.reset();
    if (this.isActive) this.#update().catch(() => {}); // Whoever asks next hears of it.
  }

  /** Resolves when what should run does; rejects when it cannot. */
  async settled(): Promise<void> {
    await this.#updating;
  }

  /** Nothing runs any more. */
  stop(): void {
    this.#current?.process.retire();
    this.#current = null;
  }

  #open(): Running | null {
    return this.#current?.process.isOpen === true ? this.#current : null;
  }

  #update(): Promise<void> {
    this.#updating ??= this.#bringUp().finally(() => (this.#updating = null));
    return this.#updating;
  }

  /** The next is up before the one before it takes no more. */
  async #bringUp(): Promise<void> {
    do {
      const goal = this.#wanted;
      const fresh = await this.#launch();
      const old = this.#current;
      [this.#current, this.#has] = [fresh, goal];
      old?.process.retire();
      void fresh.process.ended.then(() => this.#noteEnd(fresh));
    } while (this.#has !== this.#wanted);
  }

  async #launch(): Promise<Running> {
    try {
      return await this.#options.launch();
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof ScriptFault)) return;
    if (error.kind === "not-found") this.stop();
    else if (error.kind === "does-not-start") this.#backOff.failed(error);
  }

  #noteEnd({ process }: Running): void {
    const { fault, startedAt } = process;
    if (fault !== null) this.#backOff.fell(this.#options.now() - startedAt, fault);
  }
}

function placeIn({ process }: Running): HeldPlace {
  const lease = process.lease();
  return {
    process,
    socketPath: process.httpSocket,
    upstream: process.upstream,
    fault: () => process.fault,
    [Symbol.dispose]: () => lease[Symbol.dispose](),
  };
}

function notNow(cause: Error | null): ScriptFault {
  const why = cause === null ? "" : `: ${cause.message}`;
  return new ScriptFault("unavailable", `The script keeps failing${why}`, { cause });
}
