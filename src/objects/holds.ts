/**
 * Which blobs this process is using, so that none is collected meanwhile: those being written, which no
 * row names yet, and those being read, which no row may name any more.
 */
export class Holds {
  readonly #writing = new Set<string>();
  readonly #readers = new Map<string, number>();
  readonly #collecting = new Set<string>();

  isWriting(id: string): boolean {
    return this.#writing.has(id);
  }

  writing(id: string): Disposable {
    this.#writing.add(id);
    return { [Symbol.dispose]: () => void this.#writing.delete(id) };
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

  /** Null while it is being read. */
  collecting(id: string): Disposable | null {
    if (this.#readers.has(id) || this.#collecting.has(id)) return null;
    this.#collecting.add(id);
    return { [Symbol.dispose]: () => void this.#collecting.delete(id) };
  }
}
