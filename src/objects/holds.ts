/**
 * Which blobs this process is using, so that none is collected meanwhile: those being written, which no
 * row names yet, and those being read, which no row may name any more.
 */

/** What may be collected: nobody begins to read it until this is disposed of. */
export interface Collecting extends Disposable {
  readonly free: readonly string[];
}

/** Those of one store. */
export class Holds {
  readonly #writing = new Set<string>();
  readonly #readers = new Map<string, number>();
  readonly #collecting = new Set<string>();

  writing(id: string): Disposable {
    this.#writing.add(id);
    return { [Symbol.dispose]: () => void this.#writing.delete(id) };
  }

  writtenAmong(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => this.#writing.has(id));
  }

  /** Null when it is being collected: whoever wants to read it must look again for what is there now. */
  reading(id: string): Disposable | null {
    if (this.#collecting.has(id)) return null;
    this.#readers.set(id, (this.#readers.get(id) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#readers.get(id)! - 1;
        if (left > 0) this.#readers.set(id, left);
        else this.#readers.delete(id);
      },
    };
  }

  /** Of these all that are not being read. */
  collecting(ids: readonly string[]): Collecting {
    const free = ids.filter((id) => !this.#readers.has(id) && !this.#collecting.has(id));
    for (const id of free) this.#collecting.add(id);
    return {
      free,
      [Symbol.dispose]: () => {
        for (const id of free) this.#collecting.delete(id);
      },
    };
  }
}

/** The holds of a store on another thread. Where that has ended it holds nothing. */
export interface OtherHolds {
  writtenAmong(ids: readonly string[]): Promise<readonly string[]>;
  collecting(ids: readonly string[]): Promise<Collecting>;
}

/** Those of all stores on one ground, as the one asks for them that collects. */
export class AllHolds {
  readonly #own: Holds;
  readonly #others = new Set<OtherHolds>();

  constructor(own: Holds) {
    this.#own = own;
  }

  add(other: OtherHolds): Disposable {
    this.#others.add(other);
    return { [Symbol.dispose]: () => void this.#others.delete(other) };
  }

  async writtenAmong(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const others = [...this.#others].map((holds) => holds.writtenAmong(ids));
    return new Set([...this.#own.writtenAmong(ids), ...(await Promise.all(others)).flat()]);
  }

  async collecting(ids: readonly string[]): Promise<Collecting> {
    using granted = new DisposableStack();
    let free = ids;
    for (const holds of [this.#own, ...this.#others]) {
      if (free.length === 0) break;
      free = granted.use(await holds.collecting(free)).free;
    }
    const all = granted.move();
    return { free, [Symbol.dispose]: () => all.dispose() };
  }
}
