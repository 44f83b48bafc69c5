/**
 * Hashes on a thread of their own: MD5 of 10 MiB takes 15 ms, in which nobody else would be served and nothing
 * written. The thread is started for the first large body, and lets a program end when it has nothing to do.
 */
import { Worker } from "node:worker_threads";
import { BufferPool } from "#kit/buffer-pool.ts";
import { HashSlabs, SLAB_OCTETS } from "./hash-slabs.ts";
import type { HashReply, HashRequest } from "./hashing-thread.ts";
import type { Algorithm } from "./model.ts";

/** Room outside the slabs that is kept for the next bodies that find none. */
const FREE_ROOMS = 8;

export class HashThread implements AsyncDisposable {
  #running: Running | null = null;

  begin(algorithms: readonly Algorithm[]): ThreadHashing {
    this.#running ??= new Running(() => (this.#running = null));
    return new ThreadHashing(this.#running, algorithms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.worker.terminate();
  }
}

/** A body on its way through the thread. It must be finished, or left. */
export class ThreadHashing {
  readonly #thread: Running;
  readonly #algorithms: readonly Algorithm[];
  readonly #body: number;
  #room: Room | null = null;
  #filled = 0;
  #digests: Promise<readonly string[]> | null = null;

  constructor(thread: Running, algorithms: readonly Algorithm[]) {
    this.#thread = thread;
    this.#algorithms = algorithms;
    this.#body = thread.enter();
  }

  /**
   * Gives a body on in large pieces, which are hashed at the same time. Each is good until the next is asked for, as
   * those of the body may be.
   */
  async *pass(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const octets of body) {
        for (let rest = octets; rest.length > 0;) {
          if (this.#filled === SLAB_OCTETS) yield* this.#shared(false);
          rest = rest.subarray(this.#fill(rest));
        }
      }
      yield* this.#shared(true);
    } finally {
      this.#giveRoom();
    }
  }

  /** In the order of the algorithms, as lower-case hex; after the last piece has passed. */
  async finish(): Promise<readonly string[]> {
    return this.#digests!;
  }

  leave(): void {
    this.#post("never mind");
    this.#thread.exit(this.#body);
  }

  /** Returns how many octets there was room for. */
  #fill(octets: Uint8Array): number {
    this.#thread.mustRun();
    this.#room ??= this.#thread.takeRoom();
    // Not `set`: into shared memory it copies octet by octet, unless all is aligned.
    const { buffer, byteOffset, length } = octets;
    const copied = Buffer.from(buffer, byteOffset, length).copy(this.#room.octets, this.#filled);
    this.#filled += copied;
    return copied;
  }

  /** Tells the thread of what was gathered, and gives it on. */
  async *#shared(isLast: boolean): AsyncGenerator<Uint8Array> {
    const slab = await this.#slabForThread();
    const length = this.#filled;
    if (isLast) this.#digests = this.#thread.digests(this.#body);
    this.#post({ slab, length, isLast });
    if (length > 0) yield this.#room!.octets.subarray(0, length);
    this.#giveRoom();
  }

  /** The one that was filled; else one that gets what was gathered elsewhere, and that nobody else holds. */
  async #slabForThread(): Promise<number> {
    this.#thread.mustRun();
    const { slabs } = this.#thread;
    const filled = this.#room?.slab ?? null;
    if (filled !== null) {
      slabs.share(filled);
      return filled;
    }
    const slab = await slabs.take();
    this.#room?.octets.copy(slabs.octets(slab), 0, 0, this.#filled);
    return slab;
  }

  #giveRoom(): void {
    if (this.#room !== null) this.#thread.giveRoom(this.#room);
    this.#room = null;
    this.#filled = 0;
  }

  #post(next: HashRequest["next"]): void {
    const request: HashRequest = { body: this.#body, algorithms: this.#algorithms, next };
    this.#thread.worker.postMessage(request);
  }
}

/** Where a body is gathered and written from: a slab, or memory of nobody else's while others have those. */
interface Room {
  readonly slab: number | null;
  readonly octets: Buffer;
}

/** The thread from its start to its end, and what waits for it. */
class Running {
  readonly worker: Worker;
  readonly slabs = new HashSlabs();
  readonly #rooms = new BufferPool(SLAB_OCTETS, FREE_ROOMS);
  /** Those begun, by their number; with who waits for its digests. */
  readonly #bodies = new Map<number, PromiseWithResolvers<readonly string[]> | null>();
  #lastBody = 0;
  #failure: Error | null = null;

  constructor(onEnd: () => void) {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const file = new URL(`./hashing-thread.${extension}`, import.meta.url);
    const { memory } = this.slabs;
    this.worker = new Worker(file, { workerData: { memory }, name: "hashing" });
    this.worker.on("message", (reply: HashReply) => this.#hear(reply));
    this.worker.on("error", (cause) => this.#fail(cause));
    this.worker.on("exit", () => {
      onEnd();
      this.#fail(null);
    });
    this.worker.unref();
  }

  enter(): number {
    if (this.#bodies.size === 0) this.worker.ref();
    this.#bodies.set(++this.#lastBody, null);
    return this.#lastBody;
  }

  exit(body: number): void {
    if (this.#bodies.delete(body) && this.#bodies.size === 0) this.worker.unref();
  }

  mustRun(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  takeRoom(): Room {
    const slab = this.slabs.takeToFill();
    return { slab, octets: slab === null ? this.#rooms.take() : this.slabs.octets(slab) };
  }

  giveRoom({ slab, octets }: Room): void {
    if (slab === null) this.#rooms.give(octets);
    else this.slabs.letGo(slab);
  }

  /** Asked for before the last octets are sent. */
  digests(body: number): Promise<readonly string[]> {
    const digests = Promise.withResolvers<readonly string[]>();
    digests.promise.catch(() => {}); // Whoever finishes the body hears of it; one that is left has nobody.
    this.#bodies.set(body, digests);
    return digests.promise;
  }

  #hear({ slabs, digests }: HashReply): void {
    for (const slab of slabs) this.slabs.letGo(slab);
    for (const { body, values } of digests) {
      this.#bodies.get(body)?.resolve(values);
      this.exit(body);
    }
  }

  #fail(cause: unknown): void {
    this.#failure ??= new Error("The thread that hashes has ended", { cause });
    this.slabs.fail(this.#failure);
    for (const waiting of this.#bodies.values()) waiting?.reject(this.#failure);
    this.#bodies.clear();
  }
}
