/** Values under prefixes: finds those whose prefix a text begins with, the longest first. */

interface Entry<T> {
  readonly prefix: string;
  value: T;
  /** The longest other entry that this one begins with. */
  parent: Entry<T> | null;
}

/**
 * The entries lie in order. The last one that is not after the text, or one of those it begins with, is
 * the longest that the text begins with: all that stand between the two begin with that too.
 */
export class PrefixTable<T> {
  readonly #entries: Entry<T>[] = [];
  /** Whether the parents are known; that takes a pass over all, so it waits until someone looks. */
  #isLinked = true;

  get size(): number {
    return this.#entries.length;
  }

  get(prefix: string): T | undefined {
    return this.#entryAt(this.#search(prefix), prefix)?.value;
  }

  set(prefix: string, value: T): void {
    const place = this.#search(prefix);
    const entry = this.#entryAt(place, prefix);
    if (entry !== undefined) entry.value = value;
    else {
      this.#entries.splice(place, 0, { prefix, value, parent: null });
      this.#isLinked = false;
    }
  }

  /** What `pick` makes of the value under the longest prefix for which that is not undefined. */
  find<R>(text: string, pick: (value: T) => R | undefined): R | undefined {
    if (!this.#isLinked) this.#link();
    let at: Entry<T> | null = this.#entries[this.#search(text) - 1] ?? null;
    const same = at === null ? 0 : commonLength(at.prefix, text);
    while (at !== null && at.prefix.length > same) at = at.parent;
    for (; at !== null; at = at.parent) {
      const found = pick(at.value);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** How many entries are not after the text. */
  #search(text: string): number {
    let low = 0;
    for (let high = this.#entries.length; low < high;) {
      const middle = (low + high) >>> 1;
      if (this.#entries[middle]!.prefix <= text) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #entryAt(place: number, prefix: string): Entry<T> | undefined {
    const entry = this.#entries[place - 1];
    return entry?.prefix === prefix ? entry : undefined;
  }

  #link(): void {
    let before: Entry<T> | null = null;
    for (const entry of this.#entries) {
      let parent: Entry<T> | null = before;
      while (parent !== null && !entry.prefix.startsWith(parent.prefix)) parent = parent.parent;
      entry.parent = parent;
      before = entry;
    }
    this.#isLinked = true;
  }
}

function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a.charCodeAt(same) === b.charCodeAt(same)) same++;
  return same;
}
