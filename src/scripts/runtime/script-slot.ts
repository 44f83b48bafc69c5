/** The process of one script over time: started, replaced by the next, started again. */
import { ScriptFault } from "../fault.ts";
import { BackOff } from "./back-off.ts";
import type { Cast, Running } from "./launcher.ts";
import type { ScriptPlace } from "./types.ts";
import type { WorkerdProcess } from "./workerd-process.ts";

/** How often a request tries when processes end under it before it has a place. */
const ATTEMPTS = 3;

/** A place, and the process that it is in. */
export interface HeldPlace extends ScriptPlace {
  readonly process: WorkerdProcess;
}

export interface SlotOptions {
  /** Finds out what is to run now. */
  readonly gather: () => Promise<Cast>;
  /** Starts it, or hands over a process that waits for this. */
  readonly launch: (cast: Cast) => Promise<Running>;
  /** Hears that requests which come now need another place than those before. */
  readonly onMoved: () => void;
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
  /** What is being started; null as long as that is being found out. */
  #coming: Cast | null = null;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#backOff = new BackOff(options.now);
  }

  /** Whether the script runs here, or may in what is coming. */
  holds(scriptId: string): boolean {
    if (this.#current?.members.has(scriptId) === true) return true;
    return this.#mayCome((cast) => cast.scripts.some(({ id }) => id === scriptId));
  }

  /** Whether a script of that name is bound here in vain, or may be in what is coming. */
  lacks(name: string): boolean {
    if (this.#current?.missing.has(name) === true) return true;
    return this.#mayCome((cast) => cast.missing.has(name));
  }

  /** A place with what should run now; with what ran before if that does not start. */
  async place(connectionLost = false): Promise<HeldPlace> {
    const process = this.#current?.process;
    if (process?.isDoubtful === true || connectionLost) await process?.seeIfThere();
    for (let attempt = 1; ; attempt++) {
      const open = this.#open();
      if (open !== null && this.#has === this.#wanted) return placeIn(open, true);
      const reason = this.#backOff.reason;
      if (reason !== null) {
        if (open !== null) return placeIn(open, false);
        throw notNow(reason);
      }
      try {
        await this.#update();
      } catch (error) {
        const old = this.#open();
        if (old === null) throw error;
        return placeIn(old, false);
      }
      if (attempt === ATTEMPTS) throw notNow(this.#current?.process.fault ?? null);
    }
  }

  /** Something else should run. A process that runs is replaced at once, and one that does not started when asked for. */
  change(): void {
    this.#wanted++;
    this.#options.onMoved();
    this.#backOff.reset();
    if (this.#open() === null && this.#updating === null) return;
    this.#update().catch(() => {}); // Whoever asks next hears of it.
  }

  /** Resolves when what should run does; rejects when it cannot. */
  async settled(): Promise<void> {
    await this.#updating;
  }

  /** The script is gone. What is coming finds that out by itself. */
  stop(): void {
    this.#wanted++;
    this.#options.onMoved();
    this.#retire();
  }

  #retire(): void {
    this.#current?.process.retire();
    this.#current = null;
  }

  #mayCome(isIt: (cast: Cast) => boolean): boolean {
    return this.#updating !== null && (this.#coming === null || isIt(this.#coming));
  }

  #open(): Running | null {
    return this.#current?.process.isOpen === true ? this.#current : null;
  }

  #update(): Promise<void> {
    this.#updating ??= this.#bringUp().finally(() => (this.#updating = null));
    return this.#updating;
  }

  /** Again when something else should run meanwhile. */
  async #bringUp(): Promise<void> {
    do {
      const goal = this.#wanted;
      try {
        await this.#replace();
        this.#has = goal;
      } catch (error) {
        if (goal !== this.#wanted) continue;
        this.#noteFailure(error);
        throw error;
      } finally {
        this.#coming = null;
      }
    } while (this.#has !== this.#wanted);
  }

  /** The next is up before the one before it takes no more. What runs already is left alone. */
  async #replace(): Promise<void> {
    const cast = await this.#options.gather();
    if (this.#open()?.key === cast.key) return;
    this.#coming = cast;
    const fresh = await this.#options.launch(cast);
    this.#retire();
    this.#current = fresh;
    void fresh.process.ended.then(() => this.#noteEnd(fresh));
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof ScriptFault)) return;
    if (error.kind === "not-found") this.#retire();
    else if (error.kind === "does-not-start") this.#backOff.failed(error);
  }

  #noteEnd({ process }: Running): void {
    this.#options.onMoved();
    const { fault, startedAt } = process;
    if (fault !== null) this.#backOff.fell(this.#options.now() - startedAt, fault);
  }
}

function placeIn({ process }: Running, isCurrent: boolean): HeldPlace {
  const lease = process.lease();
  return {
    process,
    isCurrent,
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
