/**
 * Hashes on a thread of their own: MD5 of 10 MiB takes 15 ms, in which nobody else would be served and nothing
 * written. The thread is started for the first large body, and lets a program end when it has nothing to do.
 */
import { Worker } from "node:worker_threads";
import { BufferPool } from "#kit/buffer-pool.ts";
import type { HashReply, HashRequest } from "./hashing-thread.ts";
import type { Algorithm } from "./model.ts";

/** Half a millisecond's work for the thread. */
const SLAB_OCTETS = 256 * 1024;
/** Enough that it need not wait for the next one; whoever finds all of them taken does. */
const SLABS = 8;

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
  /** Pieces that are too small for a message each; in slabs they would keep others waiting as long as they do. */
  #room: Buffer | null = null;
  #filled = 0;

  constructor(thread: Running, algorithms: readonly Algorithm[]) {
    this.#thread = thread;
    this.#algorithms = algorithms;
    this.#body = thread.enter();
  }

  /** Resolves when the octets may be changed. */
  async update(octets: Uint8Array): Promise<void> {
    for (let rest = octets; rest.length > 0;) {
      const some = rest.subarray(0, SLAB_OCTETS - this.#filled);
      rest = rest.subarray(some.length);
      if (some.length === SLAB_OCTETS) await this.#hand(some);
      else await this.#gather(some);
    }
  }

  /** In the order of the algorithms, as lower-case hex. */
  async finish(): Promise<readonly string[]> {
    await this.#flush();
    this.#post("end");
    return this.#thread.digests(this.#body);
  }

  leave(): void {
    this.#filled = 0;
    this.#freeRoom();
    this.#post("never mind");
    this.#thread.exit(this.#body);
  }

  async #gather(octets: Uint8Array): Promise<void> {
    this.#thread.mustRun();
    this.#room ??= this.#thread.rooms.take();
    this.#room.set(octets, this.#filled);
    this.#filled += octets.length;
    if (this.#filled === SLAB_OCTETS) await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#filled > 0) await this.#hand(this.#room!.subarray(0, this.#filled));
    this.#filled = 0;
    this.#freeRoom();
  }

  async #hand(octets: Uint8Array): Promise<void> {
    const slab = await this.#thread.slab();
    this.#thread.slabs[slab]!.set(octets);
    this.#post({ slab, length: octets.length });
  }

  #freeRoom(): void {
    if (this.#room !== null) this.#thread.rooms.give(this.#room);
    this.#room = null;
  }

  #post(next: HashRequest["next"]): void {
    const request: HashRequest = { body: this.#body, algorithms: this.#algorithms, next };
    this.#thread.worker.postMessage(request);
  }
}

type Deferred<T> = PromiseWithResolvers<T>;

/** The thread from its start to its end, and what waits for it. */
class Running {
  readonly worker: Worker;
  readonly slabs = Array.from(
    { length: SLABS },
    () => new Uint8Array(new SharedArrayBuffer(SLAB_OCTETS)),
  );
  readonly rooms = new BufferPool(SLAB_OCTETS, SLABS);
  readonly #free = this.slabs.map((_, i) => i);
  readonly #inLine: Deferred<number>[] = [];
  /** Those begun, by their number; with who waits for its digests. */
  readonly #bodies = new Map<number, Deferred<readonly string[]> | null>();
  #lastBody = 0;
  #failure: Error | null = null;

  constructor(onEnd: () => void) {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const file = new URL(`./hashing-thread.${extension}`, import.meta.url);
    this.worker = new Worker(file, { workerData: { slabs: this.slabs }, name: "hashing" });
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

  async slab(): Promise<number> {
    this.mustRun();
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const next = Promise.withResolvers<number>();
    this.#inLine.push(next);
    return next.promise;
  }

  async digests(body: number): Promise<readonly string[]> {
    this.mustRun();
    const digests = Promise.withResolvers<readonly string[]>();
    this.#bodies.set(body, digests);
    return digests.promise;
  }

  #hear(reply: HashReply): void {
    if ("slab" in reply) {
      const next = this.#inLine.shift();
      if (next === undefined) this.#free.push(reply.slab);
      else next.resolve(reply.slab);
      return;
    }
    this.#bodies.get(reply.body)?.resolve(reply.digests);
    this.exit(reply.body);
  }

  #fail(cause: unknown): void {
    this.#failure ??= new Error("The thread that hashes has ended", { cause });
    for (const waiting of [...this.#inLine, ...this.#bodies.values()])
      waiting?.reject(this.#failure);
    this.#inLine.length = 0;
    this.#bodies.clear();
  }
}
