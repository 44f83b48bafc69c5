/**
 * A body on its way from an origin to any number of readers, and to where it will be kept. Small ones stay in
 * memory, larger ones go to a file behind which readers follow at their own pace. What becomes too large to be
 * kept goes past the readers, no faster than the slowest of them takes it.
 */
import type { BodyDraft } from "./disk-store.ts";
import type { Span } from "./ranges.ts";

export interface TapeOptions {
  /** The most that stays in memory. */
  readonly memoryOctets: number;
  /** The most that is kept at all. */
  readonly keepOctets: number;
  /** Begins the file of a body that is too large for memory; null where there is no disk. */
  readonly openDraft: (() => Promise<BodyDraft>) | null;
  /** The last reader has left before the end. */
  readonly onLeft: () => void;
  /** The disk does not take the body; it will not be kept. */
  readonly onError: (error: Error) => void;
}

/** What readers and writer may be apart when nothing is kept. */
const WINDOW_OCTETS = 1024 * 1024;

/** Smaller ones are joined: an origin that sends single octets must not fill the memory with what holds them. */
const SMALL_OCTETS = 4096;

interface Chunk {
  readonly start: number;
  readonly bytes: Uint8Array;
}

export class BodyTape {
  readonly #options: TapeOptions;
  readonly #readers = new Set<TapeReader>();
  /** All of the body while it is in memory; else the last of it. */
  #chunks: Chunk[] = [];
  #length = 0;
  #draft: BodyDraft | null = null;
  #isKept = true;
  #end: "open" | "whole" | Error = "open";
  /** Wakes whoever waits for a change: readers for octets, the writer for readers. */
  #change = Promise.withResolvers<void>();

  constructor(options: TapeOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#length;
  }

  /** Whether all octets since the first are at hand, so that readers may begin. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** The file that it was written to, if it was. */
  get draft(): BodyDraft | null {
    return this.#draft;
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  read(span: Span): AsyncIterableIterator<Uint8Array> {
    const reader = new TapeReader(this, span);
    this.#readers.add(reader);
    return reader;
  }

  /** Resolves when there is room for more. */
  async append(bytes: Uint8Array): Promise<void> {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.bytes.length + bytes.length <= SMALL_OCTETS) {
      this.#chunks.pop();
      this.#chunks.push({ start: last.start, bytes: Buffer.concat([last.bytes, bytes]) });
    } else this.#chunks.push({ start: this.#length, bytes });
    this.#length += bytes.length;
    this.#tell();
    if (this.#isKept) await this.#keep(bytes);
    if (!this.#isKept) await this.#letPass();
  }

  /** The end has come: what is kept is one of these, or null. */
  finish(): Uint8Array | BodyDraft | null {
    this.#end = "whole";
    this.#tell();
    if (!this.#isKept) return null;
    return this.#draft ?? this.#joined();
  }

  /** In memory of its own: a chunk is often a small part of a large buffer, all of which it would hold. */
  #joined(): Uint8Array {
    const whole = Buffer.allocUnsafeSlow(this.#length);
    for (const { start, bytes } of this.#chunks) whole.set(bytes, start);
    return whole;
  }

  /** It ends before its end; readers hear of it. */
  cut(error: Error): void {
    this.#end = error;
    this.#isKept = false;
    this.#tell();
  }

  /** Resolves when no reader is left. */
  async left(): Promise<void> {
    while (this.#readers.size > 0) await this.#change.promise;
  }

  async #keep(bytes: Uint8Array): Promise<void> {
    const { memoryOctets, keepOctets, openDraft, onError } = this.#options;
    if (this.#length > keepOctets) {
      this.#isKept = false;
      return;
    }
    if (this.#draft === null && this.#length <= memoryOctets) return;
    try {
      if (this.#draft === null) {
        this.#draft = (await openDraft?.()) ?? null;
        if (this.#draft === null) this.#isKept = false;
        for (const chunk of this.#chunks) await this.#draft?.append(chunk.bytes);
      } else await this.#draft.append(bytes);
    } catch (error) {
      this.#isKept = false;
      onError(error as Error);
    }
    if (this.#isKept) this.#forgetBefore(this.#length - WINDOW_OCTETS);
  }

  async #letPass(): Promise<void> {
    for (;;) {
      const slowest = Math.min(this.#length, ...[...this.#readers].map(({ at }) => at));
      // Whoever is so far behind still reads from the file.
      this.#forgetBefore(Math.max(slowest, this.#draft?.length ?? 0));
      const held = this.#length - (this.#chunks[0]?.start ?? this.#length);
      if (held <= WINDOW_OCTETS || this.#readers.size === 0) return;
      await this.#change.promise;
    }
  }

  #forgetBefore(place: number): void {
    const first = this.#chunks.findIndex(({ start, bytes }) => start + bytes.length > place);
    this.#chunks = first === -1 ? [] : this.#chunks.slice(first);
  }

  #tell(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }

  /** The next octets from the place on; null at the end. For readers. */
  async next(at: number): Promise<Uint8Array | null> {
    for (;;) {
      if (at < this.#length) return this.#at(at);
      if (this.#end === "whole") return null;
      if (this.#end !== "open") throw this.#end;
      await this.#change.promise;
    }
  }

  #at(at: number): Uint8Array | Promise<Uint8Array> {
    const chunk = this.#chunks.find(({ start, bytes }) => start + bytes.length > at);
    if (chunk !== undefined && chunk.start <= at) return chunk.bytes.subarray(at - chunk.start);
    return this.#draft!.read(at);
  }

  /** For readers: one has gone on, or has left. */
  moved(reader: TapeReader, hasLeft: boolean): void {
    if (hasLeft) this.#readers.delete(reader);
    if (hasLeft || !this.#isKept) this.#tell();
    if (hasLeft && this.#readers.size === 0 && this.#end === "open") this.#options.onLeft();
  }
}

class TapeReader implements AsyncIterableIterator<Uint8Array> {
  readonly #tape: BodyTape;
  readonly #end: number;
  #at: number;
  #isOver = false;

  constructor(tape: BodyTape, { start, end }: Span) {
    this.#tape = tape;
    this.#at = start;
    this.#end = end;
  }

  /** What is before has been taken. */
  get at(): number {
    return this.#at;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#isOver || this.#at >= this.#end) return this.return();
    try {
      const bytes = await this.#tape.next(this.#at);
      if (bytes === null) return this.return();
      const value = bytes.subarray(0, this.#end - this.#at);
      this.#at += value.length;
      this.#tape.moved(this, false);
      return { done: false, value };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#tape.moved(this, true);
    }
    return { done: true, value: undefined };
  }
}
