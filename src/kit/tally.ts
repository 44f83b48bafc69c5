/** Figures under names. Those of a thread are kept in memory that others see too, and stay when it is started again. */

export interface Figure {
  value: number;
}

export interface Tally {
  /** The figure of that name; 0 when it is new. */
  figure(name: string): Figure;
  entries(): Iterable<readonly [name: string, value: number]>;
}

export class OwnTally implements Tally {
  readonly #figures = new Map<string, Figure>();

  figure(name: string): Figure {
    return this.#figures.getOrInsertComputed(name, () => ({ value: 0 }));
  }

  *entries(): Generator<[string, number]> {
    for (const [name, { value }] of this.#figures) yield [name, value];
  }
}

/** Far more than there are. A page that is not written takes no memory. */
const FIGURES = 2_048;
/** Of a name, behind an octet that tells its length. */
const NAME_OCTETS = 127;
const NAMES_AT = FIGURES * Float64Array.BYTES_PER_ELEMENT;
const OCTETS = NAMES_AT + FIGURES * (NAME_OCTETS + 1);

/** One thread writes to it; any may read. */
export class SharedTally implements Tally {
  readonly #values: Float64Array;
  readonly #names: Buffer;
  readonly #places = new Map<string, number>();

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(OCTETS);
  }

  constructor(shared: SharedArrayBuffer) {
    this.#values = new Float64Array(shared, 0, FIGURES);
    this.#names = Buffer.from(shared, NAMES_AT);
    for (const [name] of this.entries()) this.#places.set(name, this.#places.size);
  }

  figure(name: string): Figure {
    const values = this.#values;
    const place = this.#places.get(name) ?? this.#add(name);
    return {
      get value() {
        return values[place]!;
      },
      set value(value) {
        values[place] = value; // Of what found no place nothing is kept.
      },
    };
  }

  *entries(): Generator<[string, number]> {
    for (let place = 0; place < FIGURES; place++) {
      const at = place * (NAME_OCTETS + 1);
      const length = Atomics.load(this.#names, at);
      if (length === 0) return;
      yield [this.#names.toString("utf8", at + 1, at + 1 + length), this.#values[place]!];
    }
  }

  #add(name: string): number {
    const place = this.#places.size;
    if (place >= FIGURES) return FIGURES;
    this.#places.set(name, place);
    const at = place * (NAME_OCTETS + 1);
    const length = this.#names.write(name, at + 1, NAME_OCTETS, "utf8");
    Atomics.store(this.#names, at, length); // Last: from now on others see it.
    return place;
  }
}
