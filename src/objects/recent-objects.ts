/**
 * Rows of objects that are asked for again and again, with the octets that lie in them. One is good until a change of
 * its object begins, on whichever thread; while one is under way, everybody reads what is there.
 */
import type { Changes } from "#kit/changes.ts";
import type { Bucket } from "./model.ts";
import type { FoundObject, InfoRow } from "./object-rows.ts";

/** Of memory, on each thread: four hundred rows with the most octets that a row holds, or some 25,000 with 1 KiB. */
const MAX_MEMORY = 48 * 1024 ** 2;

/** What a row takes of memory, beside its octets and its metadata. */
const ROW_MEMORY = 768;
/** What a field of metadata does, beside its characters. There may be thousands of them, with a few characters each. */
const FIELD_MEMORY = 64;
const MOST_OCTETS_OF_CHARACTER = 2;
/** How many keys are remembered that were read. */
const ASKED_SLOTS = 16 * 1024;

interface Kept {
  readonly bucket: number;
  readonly key: string;
  readonly info: InfoRow;
  /** Null when its octets were not asked for. */
  readonly whole: FoundObject | null;
  /** The state of changes under which it was read. */
  readonly quiet: number;
  readonly memory: number;
}

export class RecentObjects {
  readonly #changes: Changes;
  /** By hash. Those that are not asked for anymore go when the younger ones have come to half of the memory. */
  #young = new Map<number, Kept>();
  #old = new Map<number, Kept>();
  #youngMemory = 0;
  /** What all rows would have taken that were read so far. */
  #readMemory = 0;
  /** The last hash of each slot that was read, and how much had been by then. */
  readonly #hashes = new Int32Array(ASKED_SLOTS);
  readonly #readBefore = new Float64Array(ASKED_SLOTS);

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  info({ number }: Bucket, key: string): InfoRow | null {
    return this.#find(number, key)?.info ?? null;
  }

  /** Its octets are those of all who read them. */
  whole({ number }: Bucket, key: string): FoundObject | null {
    return this.#find(number, key)?.whole ?? null;
  }

  /** To be asked before the object is read; null when what is read is not to be kept. */
  before({ number }: Bucket, key: string): number | null {
    return this.#changes.quiet(hashOf(number, key));
  }

  /** `quiet` is what `before` has told. */
  noteInfo({ number }: Bucket, key: string, quiet: number, info: InfoRow): void {
    const memory = memoryOf(key, info, 0);
    this.#note({ bucket: number, key, info, whole: null, quiet, memory });
  }

  /** From here on its octets are those of all who read them. */
  noteWhole({ number }: Bucket, key: string, quiet: number, whole: FoundObject): void {
    const memory = memoryOf(key, whole, whole.body?.length ?? 0);
    this.#note({ bucket: number, key, info: whole, whole, quiet, memory });
  }

  /** Does the write that changes these objects. */
  async change<T>({ number }: Bucket, keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const hashes = keys.map((key) => hashOf(number, key));
    for (const hash of hashes) this.#changes.begin(hash);
    try {
      return await work();
    } finally {
      for (const hash of hashes) this.#changes.end(hash);
    }
  }

  /** Keeps it if it was read before, and not longer ago than what is kept would last. */
  #note(row: Kept): void {
    const hash = hashOf(row.bucket, row.key);
    const slot = hash % ASKED_SLOTS;
    this.#readMemory += row.memory;
    const isKnown = this.#hashes[slot] === hash;
    const since = isKnown ? this.#readMemory - this.#readBefore[slot]! : Infinity;
    this.#hashes[slot] = hash;
    this.#readBefore[slot] = this.#readMemory;
    if (since <= MAX_MEMORY / 2) this.#place(hash, row);
  }

  #find(bucket: number, key: string): Kept | null {
    const hash = hashOf(bucket, key);
    const young = this.#young.get(hash);
    const kept = young ?? this.#old.get(hash);
    if (kept === undefined || kept.key !== key || kept.bucket !== bucket) return null;
    if (!this.#changes.stands(hash, kept.quiet)) return null;
    if (young === undefined) {
      this.#old.delete(hash);
      this.#place(hash, kept);
    }
    return kept;
  }

  #place(hash: number, kept: Kept): void {
    this.#youngMemory += kept.memory - (this.#young.get(hash)?.memory ?? 0);
    if (this.#youngMemory > MAX_MEMORY / 2) {
      [this.#old, this.#young] = [this.#young, new Map()];
      this.#youngMemory = kept.memory;
    }
    this.#young.set(hash, kept);
  }
}

/** About as much as it takes, and rather more than less. */
function memoryOf(key: string, { metadata }: InfoRow, octets: number): number {
  let [fields, characters] = [0, key.length];
  for (const some of Object.values(metadata ?? {})) {
    for (const [name, value] of Object.entries(some)) {
      fields++;
      characters += name.length + String(value).length;
    }
  }
  return ROW_MEMORY + octets + fields * FIELD_MEMORY + characters * MOST_OCTETS_OF_CHARACTER;
}

/** FNV-1a, of 30 bits: such numbers take no memory of their own. */
function hashOf(bucket: number, key: string): number {
  let hash = 0x811c9dc5 ^ bucket;
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}
