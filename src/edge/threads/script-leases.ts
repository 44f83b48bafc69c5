/** The leases that one thread of the edge has of scripts' processes, on the main thread. */
import type { Generations } from "#kit/generations.ts";
import type { ScriptFaultKind, ScriptPlace } from "#scripts";
import type { Fact } from "../facts/facts.ts";

export interface ScriptLeasesOptions {
  /** A place with a script's process; looks first whether that is there when a connection to it was lost. */
  readonly open: (scriptId: string, connectionLost: boolean) => Promise<ScriptPlace>;
  readonly generations: Generations;
}

export class ScriptLeases implements Disposable {
  readonly #options: ScriptLeasesOptions;
  /** By socket: one for each answer that the thread has not given back. */
  readonly #places = new Map<string, ScriptPlace[]>();
  #isOver = false;

  constructor(options: ScriptLeasesOptions) {
    this.#options = options;
  }

  async place(scriptId: string, connectionLost: boolean): Promise<Fact<string>> {
    const { open, generations } = this.#options;
    const depends = generations.of(scriptId);
    const place = await open(scriptId, connectionLost);
    const { socketPath, isCurrent } = place;
    if (this.#isOver) place[Symbol.dispose]();
    else this.#places.getOrInsertComputed(socketPath, () => []).push(place);
    return { value: socketPath, depends: isCurrent ? depends : null };
  }

  fault(socketPath: string): ScriptFaultKind | null {
    return this.#places.get(socketPath)?.[0]?.fault()?.kind ?? null;
  }

  release(socketPath: string): void {
    const places = this.#places.get(socketPath) ?? [];
    places.pop()?.[Symbol.dispose]();
    if (places.length === 0) this.#places.delete(socketPath);
  }

  /** The thread has ended. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const places of this.#places.values()) {
      for (const place of places) place[Symbol.dispose]();
    }
    this.#places.clear();
  }
}
