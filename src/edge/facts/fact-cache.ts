/** What a thread has been told: kept while it is good, asked for once by all who want it meanwhile. */
import type { Generations } from "#kit/generations.ts";
import type { Fact } from "./facts.ts";

export interface FactCacheOptions<T> {
  readonly ask: (key: string) => Promise<Fact<T>>;
  readonly generations: Generations;
  readonly now: () => number;
}

/** A stranger may ask for names without end; each takes some hundred bytes. */
const MAX_KEPT = 20_000;

export class FactCache<T> {
  readonly #options: FactCacheOptions<T>;
  readonly #kept = new Map<string, Fact<T>>();
  readonly #asking = new Map<string, Promise<Fact<T>>>();

  constructor(options: FactCacheOptions<T>) {
    this.#options = options;
  }

  get(key: string): T | Promise<T> {
    const kept = this.#kept.get(key);
    return kept !== undefined && this.#isGood(kept) ? kept.value : this.#learn(key);
  }

  forget(key: string): void {
    this.#kept.delete(key);
  }

  async #learn(key: string): Promise<T> {
    const asking = this.#asking.get(key);
    if (asking !== undefined) {
      // It was asked for before this request came: since then it may have changed.
      const fact = await asking.catch(() => null);
      if (fact !== null && this.#isGood(fact)) return fact.value;
    }
    return (await (this.#asking.get(key) ?? this.#ask(key))).value;
  }

  #ask(key: string): Promise<Fact<T>> {
    const asking = this.#options
      .ask(key)
      .then((fact) => {
        if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
        if (fact.depends !== null) this.#kept.set(key, fact);
        return fact;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  #isGood({ depends, until }: Fact<T>): boolean {
    const { generations, now } = this.#options;
    if (depends === null || !generations.stands(depends)) return false;
    return until === undefined || now() < until;
  }
}
