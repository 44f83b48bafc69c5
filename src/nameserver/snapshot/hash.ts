/** The hash of names: label by label from the root, so that one pass gives those of all ancestors. */

const PRIME = 0x0100_0193;

/**
 * A secret word for each octet. With a secret start alone, names could be prepared that collide
 * whatever the start is: the low bits of a product depend on the low bits of its factors only.
 */
export class NameHash {
  readonly seed: number;
  readonly #words: Int32Array;

  private constructor(seed: number) {
    this.seed = seed;
    const next = randomWords(seed);
    this.#words = Int32Array.from({ length: 256 }, next);
  }

  static readonly #known = new Map<number, NameHash>();

  /** All readers and the writer of a snapshot share its seed, and so the words. */
  static of(seed: number): NameHash {
    let hash = this.#known.get(seed);
    if (hash === undefined) this.#known.set(seed, (hash = new NameHash(seed)));
    return hash;
  }

  /** The hash of a name from its parent's and the octets of its first label, which must be lower case. */
  label(parent: number, octets: Uint8Array, at: number): number {
    const words = this.#words;
    const end = at + octets[at]!;
    let hash = Math.imul(parent ^ words[octets[at]!]!, PRIME);
    for (let i = at + 1; i <= end; i++) hash = Math.imul(hash ^ words[octets[i]!]!, PRIME);
    // Multiplying only carries upwards; without this the low bits, which choose the page, stay poor.
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
    return hash ^ (hash >>> 13);
  }

  /** The hash of `*` below a name. */
  wildcard(parent: number): number {
    return this.label(parent, WILDCARD, 0);
  }
}

export const WILDCARD = Uint8Array.of(1, 0x2a);

/** Words that follow from the seed: splitmix32. */
function randomWords(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e37_79b9) | 0;
    let word = Math.imul(state ^ (state >>> 16), 0x21f0_aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a_2d97);
    return word ^ (word >>> 15);
  };
}
