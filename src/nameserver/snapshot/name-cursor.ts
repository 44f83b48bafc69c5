/** A name that is looked up: its octets in lower case, where its labels begin, and their hashes. */
import { NameHash } from "./hash.ts";

const MAX_NAME_OCTETS = 255;
const MAX_LABEL_OCTETS = 63;
/** As many labels of one octet as a name can have. */
const MAX_LABELS = 127;

const DOT = 0x2e;
const BACKSLASH = 0x5c;

export class NameCursor {
  readonly octets = new Uint8Array(MAX_NAME_OCTETS + 1);
  /** With the root's octet. */
  length = 0;
  labels = 0;
  /** Where each label begins; the one after the last is the root. */
  readonly at = new Int32Array(MAX_LABELS + 1);
  readonly hashes = new Int32Array(MAX_LABELS + 1);
  readonly #hasher: NameHash;

  constructor(seed: number) {
    this.#hasher = NameHash.of(seed);
  }

  /** Reads the name at a place, uncompressed. Returns where it ends, or -1 when it is none. */
  read(from: Uint8Array, start: number, limit: number): number {
    const { octets, at } = this;
    let i = start;
    let labels = 0;
    let length = 0;
    for (;;) {
      if (i >= limit) return -1;
      const size = from[i]!;
      if (size === 0) break;
      if (size > MAX_LABEL_OCTETS || length + size + 2 > MAX_NAME_OCTETS) return -1;
      if (i + size >= limit) return -1;
      at[labels++] = length;
      octets[length++] = size;
      for (const end = i + size; i < end;) {
        const octet = from[++i]!;
        octets[length++] = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
      }
      i++;
    }
    octets[length] = 0;
    at[labels] = length;
    this.length = length + 1;
    this.labels = labels;
    this.#hash();
    return i + 1;
  }

  /**
   * Reads text in lower case without its last dot, as zones keep names. False when it has an escape, or is
   * no such name: then it must be read from its wire form.
   */
  readText(text: string): boolean {
    const { octets, at } = this;
    if (text.length + 2 > MAX_NAME_OCTETS) return false;
    let labels = 0;
    let length = 0;
    let label = 0;
    for (let i = 0; i <= text.length; i++) {
      const code = i === text.length ? DOT : text.charCodeAt(i);
      if (code !== DOT) {
        if (code === BACKSLASH || code > 0x7f) return false;
        octets[++length] = code;
        continue;
      }
      if (length === label || length - label > MAX_LABEL_OCTETS) return false;
      octets[label] = length - label;
      at[labels++] = label;
      label = ++length;
    }
    octets[length] = 0;
    at[labels] = length;
    this.length = length + 1;
    this.labels = labels;
    this.#hash();
    return true;
  }

  /** Takes labels without an end, which `tail` completes; false when that is no name. */
  join(
    from: Uint8Array,
    start: number,
    length: number,
    tail: NameCursor,
    tailLabel: number,
  ): boolean {
    const { octets, at } = this;
    const tailAt = tail.at[tailLabel]!;
    if (length + tail.length - tailAt > MAX_NAME_OCTETS) return false;
    let labels = 0;
    for (let i = 0; i < length; i += octets[i]! + 1) {
      at[labels++] = i;
      octets[i] = from[start + i]!;
      for (let j = i + 1; j <= i + octets[i]!; j++) {
        const octet = from[start + j]!;
        octets[j] = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
      }
    }
    for (let i = tailLabel; i <= tail.labels; i++) at[labels++] = tail.at[i]! - tailAt + length;
    for (let i = tailAt; i < tail.length; i++) octets[length + i - tailAt] = tail.octets[i]!;
    this.labels = labels - 1;
    this.length = length + tail.length - tailAt;
    this.#hash();
    return true;
  }

  #hash(): void {
    const { octets, at, hashes } = this;
    const hasher = this.#hasher;
    let hash = (hashes[this.labels] = hasher.seed);
    for (let label = this.labels - 1; label >= 0; label--) {
      hash = hasher.label(hash, octets, at[label]!);
      hashes[label] = hash;
    }
  }
}
