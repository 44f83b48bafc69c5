/** Reading the snapshot: lookups by hash over names in wire form, without a lock and without an allocation. */
import { receiveMessageOnPort } from "node:worker_threads";
import type { ReaderHandle } from "./handle.ts";
import {
  CONTROL,
  DIRECTORY,
  ENTRY,
  IDLE,
  KEY_MASK,
  KEY_SHIFT,
  PAGE,
  PAGE_BITS,
  ROOT,
  SEGMENT_BITS,
  SEGMENT_MASK,
  wordsFor,
} from "./layout.ts";
import { slotOf } from "./shared-map.ts";

export class SnapshotReader {
  readonly words: Int32Array[] = [];
  readonly bytes: Uint8Array[] = [];
  readonly seed: number;
  readonly slot: number;
  readonly #control: Int32Array;
  readonly #mine: number;
  readonly #port: ReaderHandle["port"];
  #root = 0;

  constructor({ control, segments, port, slot }: ReaderHandle) {
    this.#control = new Int32Array(control);
    this.#port = port;
    this.slot = slot;
    this.#mine = CONTROL.firstSlot + slot * CONTROL.slotWords;
    this.seed = this.#control[CONTROL.seed]!;
    for (const segment of segments) this.#add(segment);
  }

  /** Takes the newest snapshot; until `end` nothing of it changes. */
  begin(): void {
    for (;;) {
      const version = Atomics.load(this.#control, CONTROL.version);
      Atomics.store(this.#control, this.#mine, version);
      // If it moved on before our mark stood, the writer may not have seen the mark.
      if (Atomics.load(this.#control, CONTROL.version) === version) break;
    }
    this.#root = Atomics.load(this.#control, CONTROL.root);
    while (this.words.length < Atomics.load(this.#control, CONTROL.segments)) {
      const received = receiveMessageOnPort(this.#port);
      if (received !== undefined) this.#add(received.message as SharedArrayBuffer);
    }
  }

  end(): void {
    Atomics.store(this.#control, this.#mine, IDLE);
  }

  get(address: number, word: number): number {
    return this.words[address >>> SEGMENT_BITS]![((address & SEGMENT_MASK) >> 2) + word]!;
  }

  set(address: number, word: number, value: number): void {
    this.words[address >>> SEGMENT_BITS]![((address & SEGMENT_MASK) >> 2) + word] = value;
  }

  get zones(): number {
    return this.#root === 0 ? 0 : this.get(this.#root, ROOT.zones);
  }

  get targets(): number {
    return this.#root === 0 ? 0 : this.get(this.#root, ROOT.targets);
  }

  /** The entry whose key is `key[start, end)`; 0 for none. */
  find(directory: number, hash: number, key: Uint8Array, start: number, end: number): number {
    if (directory === 0) return 0;
    const depth = this.get(directory, DIRECTORY.depth);
    const page = this.get(directory, DIRECTORY.pages + (hash & ((1 << depth) - 1)));
    const words = this.words[page >>> SEGMENT_BITS]!;
    const slots = ((page & SEGMENT_MASK & ~PAGE_BITS) >> 2) + PAGE.slots;
    const last = (1 << (page & PAGE_BITS)) - 1;
    for (let slot = slotOf(hash) & last; ; slot = (slot + 1) & last) {
      const entry = words[slots + 2 * slot + 1]!;
      if (entry === 0) return 0;
      if (words[slots + 2 * slot] === hash && this.#isKey(entry, key, start, end)) return entry;
    }
  }

  /** Where in the segment's octets the entry's key begins. */
  keyAt(entry: number): number {
    return (entry & SEGMENT_MASK) + ENTRY.key;
  }

  /** The word after the entry's key. */
  body(entry: number): number {
    const key = (this.get(entry, ENTRY.meta) >>> KEY_SHIFT) & KEY_MASK;
    return entry + ENTRY.key + 4 * wordsFor(key);
  }

  #isKey(entry: number, key: Uint8Array, start: number, end: number): boolean {
    const length = (this.get(entry, ENTRY.meta) >>> KEY_SHIFT) & KEY_MASK;
    if (length !== end - start) return false;
    const bytes = this.bytes[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) + ENTRY.key - start;
    for (let i = start; i < end; i++) if (bytes[at + i] !== key[i]) return false;
    return true;
  }

  #add(segment: SharedArrayBuffer): void {
    this.words.push(new Int32Array(segment));
    this.bytes.push(new Uint8Array(segment));
  }
}
