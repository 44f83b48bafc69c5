/**
 * Where stored responses are: in memory, and on disk when there is one. A URL whose responses vary has a mark
 * in its place, whose id is part of where its variants are; without the mark they are not found again.
 */
import { randomHex } from "#kit/random.ts";
import type { CacheCounts } from "./cache-counts.ts";
import { type FileContent, isMark, type VaryMark } from "./disk-format.ts";
import { BodyDraft, type DiskStore } from "./disk-store.ts";
import type { RequestHeaders } from "./headers.ts";
import { Kept } from "./kept.ts";
import { MemoryStore } from "./memory-store.ts";
import type { PurgeRules } from "./purge-rules.ts";
import type { Span } from "./ranges.ts";
import { isInFile, type StoredHead, withLength } from "./stored.ts";
import { variantOf } from "./vary.ts";

export interface ShelfOptions {
  readonly memoryOctets: number;
  readonly disk: DiskStore | null;
  readonly purges: PurgeRules;
  readonly counts: CacheCounts;
  readonly onError: (error: Error) => void;
}

/** Small files waiting to be written; when the disk does not keep up, more stay in memory alone. */
const MAX_WRITES = 64;
/** What is stale sooner is not worth a file. */
const MIN_DISK_LIFETIME_MS = 10_000;
/** URLs that were forgotten, remembered for what is on its way. */
const MAX_FORGOTTEN = 10_000;

export class Shelf {
  readonly #options: ShelfOptions;
  readonly #memory: MemoryStore<Kept | VaryMark>;
  #writes = 0;
  /** Counts what was forgotten; by key, its count then. */
  #moment = 0;
  readonly #forgotten = new Map<string, number>();
  #allForgotten = 0;

  constructor(options: ShelfOptions) {
    this.#options = options;
    const { memoryOctets, counts } = options;
    this.#memory = new MemoryStore(memoryOctets, () => counts.evict());
    counts.hold(0);
  }

  get octets(): number {
    return this.#memory.octets;
  }

  get size(): number {
    return this.#memory.size;
  }

  /** Now, for `keep`: what is forgotten after it stays so. */
  get moment(): number {
    return this.#moment;
  }

  /** Where the response to such a request would be, as far as is known. */
  placeOf(key: string, request: RequestHeaders): string {
    const slot = this.#memory.get(key);
    return slot === undefined || !isMark(slot) ? key : placeOf(key, slot, request);
  }

  atHand(key: string, request: RequestHeaders): Kept | undefined {
    let slot = this.#memory.get(key);
    if (slot !== undefined && isMark(slot)) slot = this.#memory.get(placeOf(key, slot, request));
    return slot === undefined || isMark(slot) ? undefined : this.#unlessPurged(slot);
  }

  #unlessPurged(kept: Kept): Kept | undefined {
    const { purges } = this.#options;
    if (kept.purge === purges.last) return kept;
    if (purges.isPurged(kept.head.key, kept.purge)) return undefined;
    kept.purge = purges.last;
    return kept;
  }

  /** Looks on disk too, and takes what it finds into memory. */
  async find(key: string, request: RequestHeaders): Promise<Kept | undefined> {
    const { disk } = this.#options;
    if (disk === null) return undefined;
    const moment = this.#moment;
    for (let place = this.placeOf(key, request); ;) {
      const content = await disk.read(place);
      if (content === null || this.#isForgotten(key, moment)) return undefined;
      if ("head" in content) {
        const kept = new Kept(content);
        if (this.#unlessPurged(kept) !== undefined) return this.#show(place, kept);
        disk.remove(place);
        return undefined;
      }
      if (place !== key) return undefined; // A mark has no mark in its place.
      this.#hold(key, content.mark, 0);
      place = placeOf(key, content.mark, request);
    }
  }

  #show(place: string, kept: Kept): Kept {
    this.#hold(place, kept, kept.octets);
    return kept;
  }

  #hold(place: string, slot: Kept | VaryMark, octets: number): void {
    this.#memory.set(place, slot, octets);
    this.#options.counts.hold(this.#memory.octets);
  }

  /** The place of a response whose head has come. From here on its variants are told apart. */
  prepare({ key, vary, variant }: StoredHead): string {
    if (vary.length === 0) return key;
    const slot = this.#memory.get(key);
    if (slot !== undefined && isMark(slot) && slot.vary.join() === vary.join()) {
      return variantPlace(key, slot, variant);
    }
    const mark = { vary, id: randomHex(16) };
    this.#hold(key, mark, 0);
    void this.#write(key, key, { mark });
    return variantPlace(key, mark, variant);
  }

  /** Keeps a whole response, unless it was forgotten since the moment. Tells whether its file is named. */
  async keep(
    place: string,
    head: StoredHead,
    body: Uint8Array | BodyDraft,
    moment: number,
  ): Promise<boolean> {
    if (this.#isForgotten(head.key, moment)) return false;
    const whole = withLength(head, body.length);
    const inFile = body instanceof BodyDraft;
    const kept = new Kept({ head: whole, body: inFile ? body.body() : body });
    if (inFile) {
      await this.#options.disk!.put(place, kept);
      if (!this.#isForgotten(head.key, moment)) this.#show(place, kept);
      else this.#options.disk!.remove(place);
      return true;
    }
    this.#show(place, kept);
    if (head.freshness.lifetimeMs >= MIN_DISK_LIFETIME_MS) await this.#write(place, head.key, kept);
    return false;
  }

  /** The same octets under a head that the origin has renewed. */
  renew(place: string, head: StoredHead, { body }: Kept): Kept {
    const kept = this.#show(place, new Kept({ head, body }));
    void this.#write(place, head.key, kept);
    return kept;
  }

  async #write(place: string, key: string, content: FileContent): Promise<void> {
    const { disk, onError } = this.#options;
    const moment = this.#moment;
    if (disk === null || this.#writes === MAX_WRITES) return;
    this.#writes++;
    try {
      await disk.put(place, content);
      if (this.#isForgotten(key, moment)) disk.remove(place);
    } catch (error) {
      onError(error as Error);
    } finally {
      this.#writes--;
    }
  }

  /** A file for a body that is too large for memory; null where there is no disk. */
  draftAt(place: string): (() => Promise<BodyDraft>) | null {
    const { disk } = this.#options;
    return disk === null ? null : () => disk.draft(place);
  }

  discard(draft: BodyDraft): void {
    this.#options.disk?.discard(draft);
  }

  /** The octets of a body in a file; null when that has gone in the meantime. */
  async open({ head, body }: Kept, span: Span): Promise<AsyncIterableIterator<Uint8Array> | null> {
    const { disk } = this.#options;
    if (disk === null || !isInFile(body)) return null;
    const pieces = await disk.openBody(body, span, () => this.forget(head.key));
    if (pieces === null) this.forget(head.key);
    return pieces;
  }

  /** What is under the key, with all its variants, and what is on its way there. RFC 9111 §4.4. */
  forget(key: string): void {
    if (this.#forgotten.size === MAX_FORGOTTEN) {
      this.#forgotten.clear();
      this.#allForgotten = this.#moment + 1;
    }
    this.#forgotten.set(key, ++this.#moment);
    this.#memory.delete(key);
    this.#options.counts.hold(this.#memory.octets);
    this.#options.disk?.remove(key);
  }

  #isForgotten(key: string, since: number): boolean {
    return Math.max(this.#forgotten.get(key) ?? 0, this.#allForgotten) > since;
  }
}

function placeOf(key: string, mark: VaryMark, request: RequestHeaders): string {
  return variantPlace(key, mark, variantOf(mark.vary, request));
}

function variantPlace(key: string, { id }: VaryMark, variant: string): string {
  return `${key}\n${id}\n${variant}`;
}
