/** Reading and writing the octets of a message, big endian, never past the end. RFC 1035 §4.1. */
import { WireFault } from "./fault.ts";
import {
  labelOctets,
  lowerName,
  MAX_LABEL_OCTETS,
  MAX_NAME_OCTETS,
  printLabel,
  splitLabels,
} from "./name.ts";

/** The two top bits that make an octet the start of a pointer. RFC 1035 §4.1.4. */
const POINTER = 0xc0;
/** A pointer has 14 bits. */
const POINTER_LIMIT = 0x4000;

export class WireReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #pointers: boolean;
  #at: number;

  /** Reads a whole message, in which names may point back; `pointers: false` for lone RDATA. */
  constructor(bytes: Uint8Array, options: { pointers?: boolean; at?: number; end?: number } = {}) {
    this.#bytes = bytes;
    this.#at = options.at ?? 0;
    this.#end = options.end ?? bytes.length;
    this.#pointers = options.pointers ?? true;
  }

  get at(): number {
    return this.#at;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  u8(): number {
    return this.#bytes[this.#take(1)]!;
  }

  u16(): number {
    const at = this.#take(2);
    return (this.#bytes[at]! << 8) | this.#bytes[at + 1]!;
  }

  u32(): number {
    return this.u16() * 0x10000 + this.u16();
  }

  /** A copy of the next octets; all that are left when no length is given. */
  bytes(length = this.left): Uint8Array {
    const at = this.#take(length);
    return this.#bytes.slice(at, at + length);
  }

  /** A reader of the next octets alone, in which pointers still reach the whole message. */
  part(length: number): WireReader {
    const at = this.#take(length);
    return new WireReader(this.#bytes, { pointers: this.#pointers, at, end: at + length });
  }

  /** A name, in the one form of text. Pointers lead strictly backwards, so they end. */
  name(options: { pointers?: boolean } = {}): string {
    const mayPoint = this.#pointers && (options.pointers ?? true);
    let text = "";
    let length = 1;
    let at = this.#at;
    let end = this.#end;
    let lowest = at; // Where the present run of labels began; a pointer must lead below it.
    let after: number | null = null; // Where reading goes on once a pointer has been followed.
    for (;;) {
      if (at >= end) throw new WireFault("A name runs past the end");
      const octet = this.#bytes[at]!;
      if (octet === 0) break;
      if (octet >= POINTER) {
        if (!mayPoint) throw new WireFault("A compressed name where none may be");
        if (at + 1 >= end) throw new WireFault("A name runs past the end");
        const target = ((octet & ~POINTER) << 8) | this.#bytes[at + 1]!;
        if (target >= lowest) throw new WireFault("A name points forward or at itself");
        after ??= at + 2;
        at = lowest = target;
        end = this.#bytes.length;
        continue;
      }
      if (octet > MAX_LABEL_OCTETS) throw new WireFault(`A label of the unknown kind ${octet}`);
      length += octet + 1;
      if (length > MAX_NAME_OCTETS) throw new WireFault("A name is longer than 255 octets");
      if (at + 1 + octet > end) throw new WireFault("A name runs past the end");
      text += `${printLabel(this.#bytes.subarray(at + 1, at + 1 + octet))}.`;
      at += octet + 1;
    }
    this.#at = after ?? at + 1;
    return text || ".";
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#end - at) {
      throw new WireFault(`Needs ${length} octets at ${at}, but ${this.#end - at} are left`);
    }
    this.#at = at + length;
    return at;
  }
}

export interface WriterOptions {
  /** Points to names written before; only what RFC 1035 defines may do so. RFC 3597 §4. */
  readonly compress?: boolean;
  /** The form that DNSSEC signs: the names of old types in lower case. RFC 4034 §6.2. */
  readonly canonical?: boolean;
}

export class WireWriter {
  #bytes = Buffer.allocUnsafe(512);
  #at = 0;
  readonly #canonical: boolean;
  /** Where a name was written. Spelling counts, so that a stored name keeps its own. */
  readonly #names: Map<string, number> | null;

  constructor({ compress = false, canonical = false }: WriterOptions = {}) {
    this.#canonical = canonical;
    this.#names = compress && !canonical ? new Map() : null;
  }

  get at(): number {
    return this.#at;
  }

  u8(value: number): void {
    const at = this.#make(1); // First, for it may bring a larger buffer.
    this.#bytes[at] = value;
  }

  u16(value: number): void {
    const at = this.#make(2);
    this.#bytes[at] = value >>> 8;
    this.#bytes[at + 1] = value;
  }

  u32(value: number): void {
    this.u16(value >>> 16);
    this.u16(value & 0xffff);
  }

  bytes(value: Uint8Array): void {
    const at = this.#make(value.length);
    this.#bytes.set(value, at);
  }

  /** `compress`: may become a pointer. `fold`: in lower case when the form is canonical. */
  name(name: string, options: { compress?: boolean; fold?: boolean } = {}): void {
    const spelled = this.#canonical && (options.fold ?? true) ? lowerName(name) : name;
    const names = options.compress === true ? this.#names : null;
    const labels = splitLabels(spelled);
    for (let i = 0; i < labels.length; i++) {
      if (this.#names !== null) {
        const suffix = labels.slice(i).join(".");
        const known = this.#names.get(suffix);
        if (known !== undefined && names !== null) return this.u16((POINTER << 8) | known);
        if (known === undefined && this.#at < POINTER_LIMIT) this.#names.set(suffix, this.#at);
      }
      const octets = labelOctets(labels[i]!);
      const at = this.#make(octets.length + 1);
      this.#bytes[at] = octets.length;
      this.#bytes.write(octets, at + 1, "latin1");
    }
    this.u8(0);
  }

  /** Writes a u16 length and then what `write` writes. */
  sized(write: () => void): void {
    const at = this.#make(2);
    write();
    this.#bytes.writeUInt16BE(this.#at - at - 2, at);
  }

  /** What was written, as a copy. */
  finish(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#at));
  }

  #make(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, at + length));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#at = at + length;
    return at;
  }
}

/** A name alone, uncompressed. */
export function encodeName(name: string): Uint8Array {
  const writer = new WireWriter();
  writer.name(name);
  return writer.finish();
}

/** The name at a place in a message, and where it ends. */
export function decodeName(message: Uint8Array, at = 0): { name: string; end: number } {
  const reader = new WireReader(message, { at });
  const name = reader.name();
  return { name, end: reader.at };
}
