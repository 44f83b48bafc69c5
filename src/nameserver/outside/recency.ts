/**
 * Things in the order of their last use: a linked list. A `Map` keeps an order, too, but finding its oldest
 * walks over all that were taken out in front since it last tidied up.
 */

/** Kept in the thing itself. */
export interface Linked<T> {
  older: T | null;
  newer: T | null;
}

export class Recency<T extends Linked<T>> {
  #oldest: T | null = null;
  #newest: T | null = null;

  get oldest(): T | null {
    return this.#oldest;
  }

  /** Makes the thing the newest, whether it was in the list or not. */
  touch(item: T): void {
    if (this.#newest === item) return;
    this.remove(item);
    item.older = this.#newest;
    if (this.#newest === null) this.#oldest = item;
    else this.#newest.newer = item;
    this.#newest = item;
  }

  remove(item: T): void {
    if (item.older !== null) item.older.newer = item.newer;
    else if (this.#oldest === item) this.#oldest = item.newer;
    if (item.newer !== null) item.newer.older = item.older;
    else if (this.#newest === item) this.#newest = item.older;
    item.older = null;
    item.newer = null;
  }
}
