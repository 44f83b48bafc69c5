/**
 * Places with scripts' processes, as a thread hands them out. The main thread gives a lease of a process; the thread
 * counts its requests there by itself, and gives the lease back when it has had none for a while.
 */
import type { Upstream } from "#http";
import type { Generations } from "#kit/generations.ts";
import type { ScriptFaultKind } from "#scripts";
import { processUpstream } from "#scripts/on-threads";
import { FactCache } from "../facts/fact-cache.ts";
import type { Fact } from "../facts/facts.ts";
import type { MainThread } from "./main-thread.ts";

/** A script's process, held for one request until disposed. */
export interface ScriptPlace extends Disposable {
  /** Carries requests to the process. */
  readonly upstream: Upstream;
  /** After a request has failed: why the process ended, if it did. */
  fault(): Promise<ScriptFaultKind | null>;
}

export interface ScriptPlacesOptions {
  readonly main: MainThread;
  readonly generations: Generations;
  readonly now: () => number;
}

/** A lease without requests is kept so long; the process counts its own idle time from its end. */
const LINGER_MS = 1_000;

/** A process that the main thread has leased to this one. */
interface Held {
  readonly socketPath: string;
  readonly upstream: Upstream;
  requests: number;
  idleSince: number;
  /** A connection was lost: the process may be gone. */
  isDoubtful: boolean;
  isReleased: boolean;
}

export class ScriptPlaces implements Disposable {
  readonly #options: ScriptPlacesOptions;
  /** By script. */
  readonly #current: FactCache<Held>;
  /** By socket. */
  readonly #held = new Map<string, Held>();
  /** Scripts whose process has lost a connection. */
  readonly #lost = new Set<string>();
  #sweeps: NodeJS.Timeout | null = null;

  constructor(options: ScriptPlacesOptions) {
    this.#options = options;
    this.#current = new FactCache({ ...options, ask: (scriptId) => this.#lease(scriptId) });
  }

  async open(scriptId: string): Promise<ScriptPlace> {
    for (;;) {
      const found = this.#current.get(scriptId);
      const held = found instanceof Promise ? await found : found;
      if (!held.isDoubtful && !held.isReleased) return this.#place(held);
      if (held.isDoubtful) this.#lost.add(scriptId);
      this.#current.forget(scriptId);
    }
  }

  /** Gives all leases back. */
  [Symbol.dispose](): void {
    for (const held of this.#held.values()) this.#release(held);
  }

  async #lease(scriptId: string): Promise<Fact<Held>> {
    const { main, now } = this.#options;
    const about = this.#lost.delete(scriptId) ? "place after loss" : "place";
    const { value: socketPath, depends } = await main.ask(about, scriptId);
    const known = this.#held.get(socketPath);
    if (known !== undefined) main.say({ kind: "release", socketPath }); // One is enough.
    const held = known ?? this.#hold(socketPath);
    held.isDoubtful = false;
    held.idleSince = now();
    return { value: held, depends };
  }

  #hold(socketPath: string): Held {
    const held: Held = {
      socketPath,
      upstream: processUpstream(socketPath, () => (held.isDoubtful = true)),
      requests: 0,
      idleSince: 0,
      isDoubtful: false,
      isReleased: false,
    };
    this.#held.set(socketPath, held);
    this.#sweeps ??= setInterval(() => this.#sweep(), LINGER_MS).unref();
    return held;
  }

  #place(held: Held): ScriptPlace {
    const { main, now } = this.#options;
    held.requests++;
    return {
      upstream: held.upstream,
      fault: () => main.ask("fault", held.socketPath),
      [Symbol.dispose]() {
        held.requests--;
        held.idleSince = now();
      },
    };
  }

  #sweep(): void {
    const before = this.#options.now() - LINGER_MS;
    for (const held of this.#held.values()) {
      if (held.requests === 0 && held.idleSince <= before) this.#release(held);
    }
    if (this.#held.size > 0 || this.#sweeps === null) return;
    clearInterval(this.#sweeps);
    this.#sweeps = null;
  }

  #release(held: Held): void {
    const { socketPath } = held;
    held.isReleased = true;
    this.#held.delete(socketPath);
    held.upstream[Symbol.dispose](); // The process waits for its connections to end.
    this.#options.main.say({ kind: "release", socketPath });
  }
}
