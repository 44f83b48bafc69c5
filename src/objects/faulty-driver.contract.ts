/** A driver that fails or waits where a test wants it to, and does its work otherwise. */
import type { BlobDriver, OpenBlob } from "./driver.ts";
import { ObjectFault } from "./fault.ts";
import type { Body, ByteRange } from "./model.ts";

export type Operation = "put" | "open" | "read" | "delete" | "list";

export interface When {
  /** Which call from now on; the next by default. */
  readonly nth?: number;
}

interface Plan {
  nth: number;
  readonly before?: () => Promise<void>;
  /** Follows the work, which has been done. */
  readonly after?: () => Promise<void>;
  /** Octets that pass before the body fails. */
  readonly octets?: number;
}

const trouble = () => new ObjectFault("unavailable", "Cannot reach the blobs: a test has it so.");

export class FaultyDriver implements BlobDriver {
  readonly #inner: BlobDriver;
  readonly #plans = new Map<Operation, Plan[]>();
  readonly #calls = new Map<Operation, number>();

  constructor(inner: BlobDriver) {
    this.#inner = inner;
  }

  /** How often it was called so far. */
  calls(operation: Operation): number {
    return this.#calls.get(operation) ?? 0;
  }

  /** Fails before anything is done. */
  fail(operation: Operation, { nth = 1, error = trouble() }: When & { error?: Error } = {}): void {
    this.#plan(operation, { nth, before: () => Promise.reject(error) });
  }

  /** Fails when all is done: the caller cannot know. Not for reads. */
  failAfter(
    operation: "put" | "open" | "delete",
    { nth = 1, error = trouble() }: When & { error?: Error } = {},
  ): void {
    this.#plan(operation, { nth, after: () => Promise.reject(error) });
  }

  /** Fails when so many octets of a body have passed. */
  cut(operation: "put" | "read", octets: number, { nth = 1 }: When = {}): void {
    this.#plan(operation, { nth, octets });
  }

  /** Waits before anything is done, until released. */
  hold(operation: Operation, { nth = 1 }: When = {}) {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const before = () => {
      reached.resolve();
      return released.promise;
    };
    this.#plan(operation, { nth, before });
    return { reached: reached.promise, release: () => released.resolve() };
  }

  async put(id: string, body: Body): Promise<void> {
    const plan = this.#take("put");
    try {
      await plan?.before?.();
    } catch (error) {
      await body[Symbol.asyncIterator]().return?.(); // A body is read or returned.
      throw error;
    }
    await this.#inner.put(id, plan?.octets === undefined ? body : cutAfter(body, plan.octets));
    await plan?.after?.();
  }

  async open(id: string): Promise<OpenBlob | null> {
    const plan = this.#take("open");
    await plan?.before?.();
    const blob = await this.#inner.open(id);
    try {
      await plan?.after?.();
    } catch (error) {
      await blob?.[Symbol.asyncDispose]();
      throw error;
    }
    return blob === null ? null : this.#watched(blob);
  }

  #watched(blob: OpenBlob): OpenBlob {
    return {
      size: blob.size,
      read: (range) => this.#read(blob, range),
      [Symbol.asyncDispose]: () => blob[Symbol.asyncDispose](),
    };
  }

  #read(blob: OpenBlob, range: ByteRange): Body {
    const plan = this.#take("read");
    if (plan === undefined) return blob.read(range);
    return after(plan.before, () =>
      plan.octets === undefined ? blob.read(range) : cutAfter(blob.read(range), plan.octets),
    );
  }

  async delete(ids: readonly string[]): Promise<void> {
    const plan = this.#take("delete");
    await plan?.before?.();
    await this.#inner.delete(ids);
    await plan?.after?.();
  }

  list(): ReturnType<BlobDriver["list"]> {
    const plan = this.#take("list");
    return after(plan?.before, () => this.#inner.list());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]();
  }

  #plan(operation: Operation, plan: Plan): void {
    this.#plans.set(operation, [...(this.#plans.get(operation) ?? []), plan]);
  }

  #take(operation: Operation): Plan | undefined {
    this.#calls.set(operation, this.calls(operation) + 1);
    const plans = this.#plans.get(operation) ?? [];
    for (const plan of plans) plan.nth--;
    this.#plans.set(
      operation,
      plans.filter(({ nth }) => nth > 0),
    );
    return plans.find(({ nth }) => nth === 0);
  }
}

async function* after<T>(
  first: (() => Promise<void>) | undefined,
  then: () => AsyncIterable<T>,
): AsyncIterable<T> {
  await first?.();
  yield* then();
}

async function* cutAfter(body: Body, octets: number): Body {
  let left = octets;
  for await (const chunk of body) {
    const some = chunk.subarray(0, left);
    left -= some.length;
    if (some.length > 0) yield some;
    if (left === 0) break;
  }
  throw trouble();
}
