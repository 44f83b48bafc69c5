/**
 * Shared memory with one writer and many readers. What readers can reach never changes: the writer makes
 * new blocks, publishes a new root in one store, and uses the blocks that went out of sight again when no
 * reader can be in them any more.
 */
import { randomBytes } from "node:crypto";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { ReaderHandle } from "./handle.ts";
import {
  CONTROL,
  IDLE,
  LINE,
  MAX_READERS,
  MAX_SEGMENTS,
  SEGMENT_BITS,
  SEGMENT_BYTES,
  SEGMENT_MASK,
} from "./layout.ts";

/** The snapshot has a limit, and reaching it is an error that can be told. */
class SnapshotFull extends Error {
  override readonly name = "SnapshotFull";
}

/** Blocks that went out of sight with a version. */
interface Retired {
  readonly version: number;
  readonly blocks: number[];
}

export class SharedMemory {
  readonly seed: number;
  readonly #control = new SharedArrayBuffer(
    (CONTROL.firstSlot + CONTROL.slotWords * MAX_READERS) * Int32Array.BYTES_PER_ELEMENT,
  );
  readonly #words = new Int32Array(this.#control);
  readonly #segments: SharedArrayBuffer[] = [];
  readonly words: Int32Array[] = [];
  readonly bytes: Uint8Array[] = [];
  readonly #readers = new Map<number, MessagePort>();
  /** Where the next block comes from that no free one serves: the segment, and the octet in it. */
  #current = -1;
  #next = SEGMENT_BYTES;
  /** By size in words; those that begin at a line of cache lie apart. */
  readonly #free = new Map<number, number[]>();
  readonly #freeLines = new Map<number, number[]>();
  readonly #retired: Retired[] = [];
  #outgoing: number[] = [];
  #used = 0;

  constructor(seed = randomBytes(4).readInt32LE()) {
    this.seed = seed;
    Atomics.store(this.#words, CONTROL.version, 1);
    Atomics.store(this.#words, CONTROL.seed, seed);
  }

  /** Octets in use, with what waits to be used again. */
  get used(): number {
    return this.#used;
  }

  /** A block of at least so many words. Its first word says how many; the rest is as it was left. */
  allocate(wanted: number): number {
    const size = roundUp(wanted);
    return this.#free.get(size)?.pop() ?? this.#freeLines.get(size)?.pop() ?? this.#make(size);
  }

  /** The same, from the begin of a line of cache on. */
  allocateLines(wanted: number): number {
    const size = roundUp(wanted);
    const free = this.#freeLines.get(size)?.pop();
    if (free !== undefined) return free;
    this.#next = (this.#next + LINE - 1) & -LINE;
    return this.#make(size);
  }

  #make(size: number): number {
    if (this.#next + size * 4 > SEGMENT_BYTES) this.#nextSegment(size);
    const address = (this.#current << SEGMENT_BITS) | this.#next;
    this.#next += size * 4;
    this.#used += size * 4;
    this.set(address, 0, size);
    return address;
  }

  /** Gives a block back that no reader has ever seen. */
  discard(address: number): void {
    const size = this.get(address, 0);
    const lists = address % LINE === 0 ? this.#freeLines : this.#free;
    const list = lists.get(size);
    if (list === undefined) lists.set(size, [address]);
    else list.push(address);
  }

  /** Gives a block back that the next version no longer reaches. */
  retire(address: number): void {
    this.#outgoing.push(address);
  }

  get(address: number, word: number): number {
    return this.words[address >>> SEGMENT_BITS]![((address & SEGMENT_MASK) >> 2) + word]!;
  }

  set(address: number, word: number, value: number): void {
    this.words[address >>> SEGMENT_BITS]![((address & SEGMENT_MASK) >> 2) + word] = value;
  }

  /** Copies the words of a block from the second on. */
  copy(from: number, to: number, words: number): void {
    const start = ((from & SEGMENT_MASK) >> 2) + 1;
    const source = this.words[from >>> SEGMENT_BITS]!.subarray(start, start + words - 1);
    this.words[to >>> SEGMENT_BITS]!.set(source, ((to & SEGMENT_MASK) >> 2) + 1);
  }

  /** From here on readers that begin see what the root leads to. */
  publish(root: number): void {
    const version = (Atomics.load(this.#words, CONTROL.version) + 1) | 0 || 1;
    // The root first: who sees the new version sees the new root.
    Atomics.store(this.#words, CONTROL.root, root);
    Atomics.store(this.#words, CONTROL.version, version);
    if (this.#outgoing.length > 0) {
      this.#retired.push({ version, blocks: this.#outgoing });
      this.#outgoing = [];
    }
    this.#reclaim();
  }

  connect(): ReaderHandle {
    let number = 0;
    while (this.#readers.has(number)) number++;
    if (number === MAX_READERS) throw new Error("There are too many readers of the snapshot");
    const { port1, port2 } = new MessageChannel();
    port1.unref();
    this.#readers.set(number, port1);
    return { control: this.#control, segments: [...this.#segments], port: port2, slot: number };
  }

  disconnect(slot: number): void {
    this.#readers.get(slot)?.close();
    this.#readers.delete(slot);
    Atomics.store(this.#words, CONTROL.firstSlot + slot * CONTROL.slotWords, IDLE);
  }

  /**
   * Makes sure that so many octets can be had, or throws. A change asks before it begins, for half a
   * change could not be taken back.
   */
  ensure(octets: number): void {
    let spare = SEGMENT_BYTES - this.#next;
    spare += (this.#segments.length - 1 - this.#current) * SEGMENT_BYTES;
    // Where a segment ends, what is left of it is lost to a block that does not fit: so twice as much.
    for (; spare < 2 * octets; spare += SEGMENT_BYTES) this.#addSegment();
  }

  #nextSegment(size: number): void {
    if (size * 4 > SEGMENT_BYTES) throw new SnapshotFull(`A block of ${size} words is too large`);
    if (this.#current + 1 === this.#segments.length) this.#addSegment();
    this.#current++;
    // Address 0 is nothing, so the first block begins after it.
    this.#next = this.#current === 0 ? LINE : 0;
  }

  #addSegment(): void {
    if (this.#segments.length === MAX_SEGMENTS) {
      const most = (MAX_SEGMENTS * SEGMENT_BYTES) / 1024 ** 3;
      throw new SnapshotFull(`The zones need more than ${most} GiB of memory for DNS`);
    }
    const segment = sharedBuffer(SEGMENT_BYTES);
    this.#segments.push(segment);
    this.words.push(new Int32Array(segment));
    this.bytes.push(new Uint8Array(segment));
    for (const port of this.#readers.values()) port.postMessage(segment);
    Atomics.store(this.#words, CONTROL.segments, this.#segments.length);
  }

  #reclaim(): void {
    if (this.#retired.length === 0) return;
    const oldest = this.#oldestRead();
    // Differences, because versions wrap around.
    while (this.#retired.length > 0 && ((this.#retired[0]!.version - oldest) | 0) <= 0) {
      for (const block of this.#retired.shift()!.blocks) this.discard(block);
    }
  }

  /** The oldest version that a reader may be in. */
  #oldestRead(): number {
    let oldest = Atomics.load(this.#words, CONTROL.version);
    for (const slot of this.#readers.keys()) {
      const read = Atomics.load(this.#words, CONTROL.firstSlot + slot * CONTROL.slotWords);
      if (read !== IDLE && ((read - oldest) | 0) < 0) oldest = read;
    }
    return oldest;
  }
}

/** Its pages are only taken from the system when they are written to. */
function sharedBuffer(octets: number): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(octets);
  } catch (cause) {
    throw new SnapshotFull("The system has no more memory for DNS", { cause });
  }
}

/** Few sizes, so that a block that was given back fits the next one wanted; at most a sixteenth is wasted. */
function roundUp(words: number): number {
  if (words <= 32) return Math.max(2, words);
  const step = 1 << (27 - Math.clz32(words));
  return (words + step - 1) & -step;
}
