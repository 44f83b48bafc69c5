/** Things in the order of their time: a binary heap in which a thing can be moved and taken out. */

/** Kept in the thing itself, so that nothing is searched for. */
export interface Timed {
  dueAt: number;
  /** Where it stands in the heap; -1 when it has no deadline. */
  place: number;
}

export class Deadlines<T extends Timed> {
  readonly #heap: T[] = [];

  /** The one that is due first. */
  get first(): T | undefined {
    return this.#heap[0];
  }

  /** Gives the thing a deadline, or another one. */
  set(item: T, dueAt: number): void {
    item.dueAt = dueAt;
    if (item.place === -1) item.place = this.#heap.push(item) - 1;
    this.#rise(item);
    this.#sink(item);
  }

  /** Takes the thing's deadline away, if it has one. */
  clear(item: T): void {
    const { place } = item;
    if (place === -1) return;
    item.place = -1;
    const last = this.#heap.pop()!;
    if (last === item) return;
    this.#put(last, place);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(item: T): void {
    while (item.place > 0) {
      const parent = this.#heap[(item.place - 1) >> 1]!;
      if (parent.dueAt <= item.dueAt) return;
      this.#swap(parent, item);
    }
  }

  #sink(item: T): void {
    for (;;) {
      const left = this.#heap[item.place * 2 + 1];
      const right = this.#heap[item.place * 2 + 2];
      const child = right !== undefined && right.dueAt < left!.dueAt ? right : left;
      if (child === undefined || item.dueAt <= child.dueAt) return;
      this.#swap(item, child);
    }
  }

  #swap(upper: T, lower: T): void {
    const place = lower.place;
    this.#put(lower, upper.place);
    this.#put(upper, place);
  }

  #put(item: T, place: number): void {
    this.#heap[place] = item;
    item.place = place;
  }
}
