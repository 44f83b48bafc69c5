/**
 * Rows of objects that are asked for again and again, with their octets where they are few. One is good until a
 * change of its object begins, on whichever thread; while one is under way, everybody reads what is there.
 */
import type { Changes } from "#kit/changes.ts";
import type { Bucket } from "./model.ts";
import type { FoundObject, InfoRow } from "./object-rows.ts";

/** With the largest octets and little metadata this is 10 MiB at most. */
const MAX_KEPT = 2_000;
/** Octets are copied for each reader. Beyond this the database takes little longer, for reading many is most of its work. */
const MAX_OCTETS = 4 * 1024;
/** How many keys are remembered that were asked for once. */
const ASKED_SLOTS = 16 * 1024;

interface Kept {
  readonly bucket: number;
  readonly key: string;
  readonly info: InfoRow;
  /** Null when its octets were not asked for. */
  readonly whole: FoundObject | null;
  /** The state of changes under which it was read. */
  readonly quiet: number;
}

export class RecentObjects {
  readonly #changes: Changes;
  /** By hash. Those that are not asked for anymore go when the younger ones have become as many. */
  #young = new Map<number, Kept>();
  #old = new Map<number, Kept>();
  /** The last hash of its slot that was asked for: what is asked for only once is not worth its place. */
  readonly #asked = new Int32Array(ASKED_SLOTS);

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  info({ number }: Bucket, key: string): InfoRow | null {
    return this.#find(number, key)?.info ?? null;
  }

  /** Its octets are the reader's own. */
  whole({ number }: Bucket, key: string): FoundObject | null {
    const whole = this.#find(number, key)?.whole ?? null;
    return whole && { ...whole, body: whole.body && whole.body.slice() };
  }

  /** To be asked before the object is read; null when what is read is not to be kept. */
  before({ number }: Bucket, key: string): number | null {
    const hash = hashOf(number, key);
    const isNew = this.#asked[hash % ASKED_SLOTS] !== hash;
    if (isNew) this.#asked[hash % ASKED_SLOTS] = hash;
    return isNew ? null : this.#changes.quiet(hash);
  }

  keepInfo({ number }: Bucket, key: string, quiet: number, info: InfoRow): void {
    this.#place(hashOf(number, key), { bucket: number, key, info, whole: null, quiet });
  }

  keepWhole({ number }: Bucket, key: string, quiet: number, row: FoundObject): void {
    const { body } = row;
    if (body !== null && body.length > MAX_OCTETS) return;
    const whole = { ...row, body: body && body.slice() };
    this.#place(hashOf(number, key), { bucket: number, key, info: whole, whole, quiet });
  }

  /** Does what changes these objects. */
  async change<T>({ number }: Bucket, keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const hashes = keys.map((key) => hashOf(number, key));
    for (const hash of hashes) this.#changes.begin(hash);
    try {
      return await work();
    } finally {
      for (const hash of hashes) this.#changes.end(hash);
    }
  }

  #find(bucket: number, key: string): Kept | null {
    const hash = hashOf(bucket, key);
    let kept = this.#young.get(hash);
    if (kept === undefined) {
      kept = this.#old.get(hash);
      if (kept === undefined) return null;
      this.#old.delete(hash);
      this.#place(hash, kept);
    }
    const isIt = kept.key === key && kept.bucket === bucket;
    return isIt && this.#changes.stands(hash, kept.quiet) ? kept : null;
  }

  #place(hash: number, kept: Kept): void {
    if (this.#young.size >= MAX_KEPT / 2) [this.#old, this.#young] = [this.#young, new Map()];
    this.#young.set(hash, kept);
  }
}

/** FNV-1a, of 30 bits: such numbers take no memory of their own. */
function hashOf(bucket: number, key: string): number {
  let hash = 0x811c9dc5 ^ bucket;
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}
