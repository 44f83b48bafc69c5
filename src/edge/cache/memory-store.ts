/**
 * What is at hand in memory, within a bound of octets. What goes first is chosen by SIEVE: a hand passes
 * over the entries from the oldest on, spares those that were used since it last came by, and takes the first
 * that was not. A hit only sets a mark, and one pass of a crawler does not drive out what is in use.
 */

interface Node<V> {
  readonly key: string;
  value: V;
  octets: number;
  wasUsed: boolean;
  newer: Node<V> | null;
  older: Node<V> | null;
}

/** The entry itself beside its key and value: objects, strings' headers, the map's slot. */
export const ENTRY_OCTETS = 512;

export class MemoryStore<V> {
  readonly #limit: number;
  readonly #onEvicted: () => void;
  readonly #nodes = new Map<string, Node<V>>();
  #newest: Node<V> | null = null;
  #oldest: Node<V> | null = null;
  #hand: Node<V> | null = null;
  #octets = 0;

  constructor(limitOctets: number, onEvicted: () => void = () => {}) {
    this.#limit = limitOctets;
    this.#onEvicted = onEvicted;
  }

  get octets(): number {
    return this.#octets;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(key: string): V | undefined {
    const node = this.#nodes.get(key);
    if (node === undefined) return undefined;
    node.wasUsed = true;
    return node.value;
  }

  /** Keeps a value that takes so many octets; one that is larger than all the room is not kept. */
  set(key: string, value: V, octets: number): void {
    this.delete(key);
    const whole = octets + key.length + ENTRY_OCTETS;
    if (whole > this.#limit) return;
    while (this.#octets + whole > this.#limit) this.#evict();
    const node: Node<V> = {
      key,
      value,
      octets: whole,
      wasUsed: false,
      newer: null,
      older: this.#newest,
    };
    if (this.#newest !== null) this.#newest.newer = node;
    this.#newest = node;
    this.#oldest ??= node;
    this.#nodes.set(key, node);
    this.#octets += whole;
  }

  delete(key: string): void {
    const node = this.#nodes.get(key);
    if (node !== undefined) this.#remove(node);
  }

  clear(): void {
    this.#nodes.clear();
    this.#newest = this.#oldest = this.#hand = null;
    this.#octets = 0;
  }

  #evict(): void {
    let node = this.#hand ?? this.#oldest!;
    while (node.wasUsed) {
      node.wasUsed = false;
      node = node.newer ?? this.#oldest!;
    }
    this.#hand = node;
    this.#remove(node);
    this.#onEvicted();
  }

  #remove(node: Node<V>): void {
    if (this.#hand === node) this.#hand = node.newer;
    if (node.newer === null) this.#newest = node.older;
    else node.newer.older = node.older;
    if (node.older === null) this.#oldest = node.newer;
    else node.older.newer = node.newer;
    this.#nodes.delete(node.key);
    this.#octets -= node.octets;
  }
}
