/** Writing the maps of the snapshot: each change makes a new map that shares all but a page with the old one. */
import {
  DIRECTORY,
  MAX_DEPTH,
  PAGE,
  PAGE_BITS,
  PAGE_SLOTS,
  SMALLEST_PAGE_SLOTS,
} from "./layout.ts";
import type { SharedMemory } from "./memory.ts";

/** Which entry is meant: its hash, and whether an entry with that hash is the one. */
export interface MapKey {
  readonly hash: number;
  is(entry: number): boolean;
}

/** A map while it is changed. Blocks that it made itself, which no reader has seen, are changed in place. */
export class SharedMap {
  readonly #memory: SharedMemory;
  readonly #own = new Set<number>();
  #directory: number;

  /** An existing map, or a new one for 0. */
  constructor(memory: SharedMemory, directory: number) {
    this.#memory = memory;
    this.#directory = directory === 0 ? this.#empty() : directory;
  }

  /** The directory as it is now; what is published. Afterwards every block counts as seen. */
  finish(): number {
    this.#own.clear();
    return this.#directory;
  }

  /** The entry's address, or 0. */
  get(key: MapKey): number {
    const page = this.#page(key.hash);
    const slot = this.#find(page, key);
    return slot < 0 ? 0 : this.#memory.get(page, PAGE.slots + 2 * slot + 1);
  }

  /** Puts the entry in the place of the one with the same key; returns that one's address, or 0. */
  put(key: MapKey, entry: number): number {
    const { hash } = key;
    let page = this.#ownPage(hash);
    const slot = this.#find(page, key);
    if (slot >= 0) {
      const before = this.#memory.get(page, PAGE.slots + 2 * slot + 1);
      this.#memory.set(page, PAGE.slots + 2 * slot + 1, entry);
      return before;
    }
    // Three quarters full is where linear probing begins to be slow.
    while ((this.#memory.get(page, PAGE.used) + 1) * 4 > this.#slots(page) * 3) {
      this.#enlarge(page, hash);
      page = this.#page(hash);
    }
    this.#insert(page, hash, entry);
    return 0;
  }

  /** Takes the entry out; returns its address, or 0. */
  remove(key: MapKey): number {
    if (this.get(key) === 0) return 0;
    const page = this.#ownPage(key.hash);
    const slot = this.#find(page, key);
    const gone = this.#memory.get(page, PAGE.slots + 2 * slot + 1);
    const left = this.#entries(page).filter(([, entry]) => entry !== gone);
    this.#clear(page);
    for (const [hash, entry] of left) this.#insert(page, hash, entry);
    return gone;
  }

  /** The blocks of the map itself, and its entries. */
  *blocks(): Generator<{ readonly block: number; readonly entries: readonly number[] }> {
    for (const page of new Set(this.#pages())) {
      yield { block: page, entries: this.#entries(page).map(([, entry]) => entry) };
    }
    yield { block: this.#directory, entries: [] };
  }

  #empty(): number {
    const directory = this.#make(DIRECTORY.pages + 1);
    this.#memory.set(directory, DIRECTORY.depth, 0);
    const page = this.#newPage(0, SMALLEST_PAGE_SLOTS);
    this.#memory.set(directory, DIRECTORY.pages, this.#reference(page));
    return directory;
  }

  #page(hash: number): number {
    const depth = this.#memory.get(this.#directory, DIRECTORY.depth);
    const place = DIRECTORY.pages + (hash & ((1 << depth) - 1));
    return this.#memory.get(this.#directory, place) & ~PAGE_BITS;
  }

  #pages(): number[] {
    const count = 1 << this.#memory.get(this.#directory, DIRECTORY.depth);
    return Array.from(
      { length: count },
      (_, i) => this.#memory.get(this.#directory, DIRECTORY.pages + i) & ~PAGE_BITS,
    );
  }

  /** The page of the hash, copied if readers know it. */
  #ownPage(hash: number): number {
    const page = this.#page(hash);
    if (this.#own.has(page)) return page;
    const words = PAGE.slots + 2 * this.#slots(page);
    const copy = this.#noted(this.#memory.allocateLines(words));
    this.#memory.copy(page, copy, words);
    this.#point(hash, copy);
    this.#drop(page);
    return copy;
  }

  /** Makes every place of the directory that led to the page of the hash lead to this one. */
  #point(hash: number, page: number): void {
    this.#ownDirectory();
    const depth = this.#memory.get(this.#directory, DIRECTORY.depth);
    const local = this.#memory.get(page, PAGE.depth);
    const reference = this.#reference(page);
    for (let i = hash & ((1 << local) - 1); i < 1 << depth; i += 1 << local) {
      this.#memory.set(this.#directory, DIRECTORY.pages + i, reference);
    }
  }

  #ownDirectory(): void {
    if (this.#own.has(this.#directory)) return;
    const words = DIRECTORY.pages + (1 << this.#memory.get(this.#directory, DIRECTORY.depth));
    const copy = this.#make(words);
    this.#memory.copy(this.#directory, copy, words);
    this.#drop(this.#directory);
    this.#directory = copy;
  }

  /** Gives a full page that is ours more room: doubles it, or splits it in two. */
  #enlarge(page: number, hash: number): void {
    const slots = this.#slots(page);
    const local = this.#memory.get(page, PAGE.depth);
    const entries = this.#entries(page);
    // Names whose hashes are one and the same cannot be split.
    const cannotSplit = local === MAX_DEPTH || entries.every(([one]) => one === entries[0]![0]);
    if (slots < PAGE_SLOTS || cannotSplit) {
      const larger = this.#newPage(local, slots * 2);
      for (const [one, entry] of entries) this.#insert(larger, one, entry);
      this.#point(hash, larger);
    } else {
      if (local === this.#memory.get(this.#directory, DIRECTORY.depth)) this.#deepen();
      const bit = 1 << local;
      for (const side of [0, bit]) {
        const half = this.#newPage(local + 1, slots);
        for (const [one, entry] of entries) {
          if ((one & bit) === side) this.#insert(half, one, entry);
        }
        this.#point((hash & ~bit) | side, half);
      }
    }
    this.#drop(page);
  }

  /** Doubles the directory. */
  #deepen(): void {
    const depth = this.#memory.get(this.#directory, DIRECTORY.depth);
    const larger = this.#make(DIRECTORY.pages + (2 << depth));
    this.#memory.set(larger, DIRECTORY.depth, depth + 1);
    for (let i = 0; i < 2 << depth; i++) {
      const page = this.#memory.get(this.#directory, DIRECTORY.pages + (i & ((1 << depth) - 1)));
      this.#memory.set(larger, DIRECTORY.pages + i, page);
    }
    this.#drop(this.#directory);
    this.#directory = larger;
  }

  #slots(page: number): number {
    return this.#memory.get(page, PAGE.lastSlot) + 1;
  }

  #newPage(depth: number, slots: number): number {
    const page = this.#noted(this.#memory.allocateLines(PAGE.slots + 2 * slots));
    this.#memory.set(page, PAGE.depth, depth);
    this.#memory.set(page, PAGE.lastSlot, slots - 1);
    this.#clear(page);
    return page;
  }

  #clear(page: number): void {
    const end = PAGE.slots + 2 * this.#slots(page);
    this.#memory.set(page, PAGE.used, 0);
    for (let word = PAGE.slots; word < end; word++) this.#memory.set(page, word, 0);
  }

  #insert(page: number, hash: number, entry: number): void {
    const mask = this.#slots(page) - 1;
    let slot = slotOf(hash) & mask;
    while (this.#memory.get(page, PAGE.slots + 2 * slot + 1) !== 0) slot = (slot + 1) & mask;
    this.#memory.set(page, PAGE.slots + 2 * slot, hash);
    this.#memory.set(page, PAGE.slots + 2 * slot + 1, entry);
    this.#memory.set(page, PAGE.used, this.#memory.get(page, PAGE.used) + 1);
  }

  #find(page: number, key: MapKey): number {
    const { hash } = key;
    const mask = this.#slots(page) - 1;
    for (let slot = slotOf(hash) & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#memory.get(page, PAGE.slots + 2 * slot + 1);
      if (entry === 0) return -1;
      if (this.#memory.get(page, PAGE.slots + 2 * slot) === hash && key.is(entry)) return slot;
    }
  }

  #entries(page: number): [hash: number, entry: number][] {
    const found: [number, number][] = [];
    for (let slot = 0; slot < this.#slots(page); slot++) {
      const entry = this.#memory.get(page, PAGE.slots + 2 * slot + 1);
      if (entry !== 0) found.push([this.#memory.get(page, PAGE.slots + 2 * slot), entry]);
    }
    return found;
  }

  #make(words: number): number {
    return this.#noted(this.#memory.allocate(words));
  }

  #noted(block: number): number {
    this.#own.add(block);
    return block;
  }

  /** The page as the directory has it. */
  #reference(page: number): number {
    return page | (31 - Math.clz32(this.#slots(page)));
  }

  #drop(block: number): void {
    if (this.#own.delete(block)) this.#memory.discard(block);
    else this.#memory.retire(block);
  }
}

/** The low bits chose the page; the place in it comes from the high ones. */
export function slotOf(hash: number): number {
  return hash >>> 22;
}
