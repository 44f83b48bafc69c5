/** Work under a key: one piece at a time, in the order of asking. */

export class Turns {
  /** The last piece of each key, which never fails. */
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mine = Promise.resolve(this.#last.get(key)).then(work);
    const turn = mine.catch(() => {});
    this.#last.set(key, turn);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }
}
