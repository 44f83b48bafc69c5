/** Work under a key, done in groups: what arrives while one group is at work makes up the next. */

/** What came of one piece of work. */
export type Outcome<T = unknown> = { readonly value: T } | { readonly error: unknown };

interface Entry<W, T> {
  readonly work: W;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** A group waits for its last member, so it must not grow without end. */
const MAX_GROUP = 64;

export class Groups<W, T> {
  readonly #perform: (key: string, group: readonly W[]) => Promise<readonly Outcome<T>[]>;
  readonly #waiting = new Map<string, Entry<W, T>[]>();

  /** `perform` does a group in order and tells what came of each; when it throws, all have failed. */
  constructor(perform: (key: string, group: readonly W[]) => Promise<readonly Outcome<T>[]>) {
    this.#perform = perform;
  }

  /** Whether what is added now would have to wait. */
  isBusy(key: string): boolean {
    return this.#waiting.has(key);
  }

  add(key: string, work: W): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const entry = { work, resolve, reject };
    const queue = this.#waiting.get(key);
    if (queue === undefined) {
      this.#waiting.set(key, [entry]);
      void this.#drain(key);
    } else queue.push(entry);
    return promise;
  }

  async #drain(key: string): Promise<void> {
    const queue = this.#waiting.get(key)!;
    while (queue.length > 0) {
      const group = queue.slice(0, MAX_GROUP);
      try {
        const outcomes = await this.#perform(
          key,
          group.map(({ work }) => work),
        );
        for (const [i, { resolve, reject }] of group.entries()) {
          const outcome = outcomes[i]!;
          if ("error" in outcome) reject(outcome.error);
          else resolve(outcome.value);
        }
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
      queue.splice(0, group.length);
    }
    this.#waiting.delete(key);
  }
}
