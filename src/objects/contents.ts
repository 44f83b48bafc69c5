/** Takes in the octets of a put or a part: counted, hashed, small ones kept at hand, large ones as a blob. */
import { DatabaseFault } from "#db";
import { randomId } from "#kit/random.ts";
import type { BlobDriver } from "./driver.ts";
import { ObjectFault } from "./fault.ts";
import { type ExpectedChecksum, Hashing, hashWhole } from "./hashing.ts";
import type { Holds } from "./holds.ts";
import type { ObjectLimits } from "./limits.ts";
import type { Body, BodyOptions, Checksums } from "./model.ts";

/** Octets that were taken in: their `body`, or the blob that holds them. */
export interface Content {
  readonly size: number;
  readonly md5: string;
  /** Beside MD5. */
  readonly checksums: Checksums | null;
  readonly body: Uint8Array | null;
  readonly blob: string | null;
}

/** Hashing so much takes a fraction of a millisecond; then others get their turn. */
const SLICE_OCTETS = 256 * 1024;

export class Contents {
  readonly #blobs: BlobDriver;
  readonly #holds: Holds;
  readonly #limits: ObjectLimits;

  constructor(blobs: BlobDriver, holds: Holds, limits: ObjectLimits) {
    this.#blobs = blobs;
    this.#holds = holds;
    this.#limits = limits;
  }

  /**
   * Takes the body in and has it committed. When the commit gives null or cannot have happened, nothing is
   * left behind.
   */
  async store<T>(
    body: Body | Uint8Array,
    options: BodyOptions,
    commit: (content: Content) => Promise<T>,
  ): Promise<T> {
    const { bodyOctets, inlineOctets } = this.#limits;
    if (body instanceof Uint8Array && body.length <= inlineOctets) {
      return commit(inline(body, options));
    }
    const source = new Source(body, options.size, bodyOctets);
    const head = await source.readPast(inlineOctets);
    if (source.isOver) return commit(inline(Buffer.concat(head), options));
    const blob = randomId();
    using _ = this.#holds.writing(blob);
    const digests = await this.#keep(blob, head, source, options.checksum);
    let result: T | null = null;
    try {
      result = await commit({ ...digests, size: source.size, body: null, blob });
    } catch (error) {
      // What the database may have done after all must find its blob; the sweep will know.
      if (isUncertain(error)) throw error;
      await this.#forget(blob);
      throw error;
    }
    if (result === null) await this.#forget(blob);
    return result;
  }

  async #keep(
    blob: string,
    head: readonly Uint8Array[],
    source: Source,
    checksum: ExpectedChecksum | undefined,
  ) {
    const hashing = new Hashing(checksum);
    let digests: ReturnType<Hashing["finish"]> | null = null;
    async function* passing(): Body {
      for (const octets of head) yield* sliced(octets, hashing);
      for (let next = await source.next(); next !== null; next = await source.next()) {
        yield* sliced(next, hashing);
      }
      // A body that is not what was announced is a body that fails: the driver drops it.
      digests = hashing.finish();
    }
    try {
      await this.#blobs.put(blob, passing());
    } catch (error) {
      await source.leave();
      if (source.failure !== null) throw source.failure.error;
      if (error instanceof ObjectFault) throw error;
      throw new ObjectFault("unavailable", "The octets could not be stored", { cause: error });
    }
    const { md5, ...others } = digests!;
    return { md5, checksums: orNull(others) };
  }

  async #forget(blob: string): Promise<void> {
    // What is left over is found by the sweep; the caller must hear of its own trouble.
    await this.#blobs.delete([blob]).catch(() => {});
  }
}

function inline(body: Uint8Array, { checksum, size }: BodyOptions): Content {
  if (size !== undefined && size !== body.length) throw wrongSize(size, body.length);
  const { md5, ...others } = hashWhole(body, checksum);
  return { size: body.length, md5, checksums: orNull(others), body, blob: null };
}

function orNull(checksums: Checksums): Checksums | null {
  return Object.keys(checksums).length === 0 ? null : checksums;
}

function* sliced(octets: Uint8Array, hashing: Hashing): Generator<Uint8Array> {
  for (let at = 0; at < octets.length; at += SLICE_OCTETS) {
    const slice = octets.subarray(at, at + SLICE_OCTETS);
    hashing.update(slice);
    yield slice;
  }
}

/** A body as it comes, within its limit. */
class Source {
  readonly #octets: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  readonly #announced: number | undefined;
  readonly #limit: number;
  size = 0;
  isOver = false;
  /** Why the body could not be read to its end. */
  failure: { readonly error: unknown } | null = null;

  constructor(body: Body | Uint8Array, announced: number | undefined, limit: number) {
    this.#octets = body instanceof Uint8Array ? [body].values() : body[Symbol.asyncIterator]();
    this.#announced = announced;
    this.#limit = limit;
  }

  /** Reads to the end, or until there is more than this. */
  async readPast(octets: number): Promise<Uint8Array[]> {
    const head: Uint8Array[] = [];
    while (this.size <= octets) {
      const next = await this.next();
      if (next === null) break;
      head.push(next);
    }
    return head;
  }

  /** Null at the end. */
  async next(): Promise<Uint8Array | null> {
    try {
      const { done, value } = await this.#octets.next();
      if (done === true) {
        this.isOver = true;
        if (this.#announced !== undefined && this.size !== this.#announced) {
          throw wrongSize(this.#announced, this.size);
        }
        return null;
      }
      this.size += value.length;
      if (this.size > (this.#announced ?? Infinity)) throw wrongSize(this.#announced!, this.size);
      if (this.size > this.#limit) {
        throw new ObjectFault("too-large", `A body has at most ${this.#limit} octets`);
      }
      return value;
    } catch (error) {
      this.failure = { error };
      await this.leave();
      throw error;
    }
  }

  /** Tells whoever sends that no more is wanted. */
  async leave(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    try {
      await this.#octets.return?.();
    } catch {
      // It was left for another reason already.
    }
  }
}

function wrongSize(announced: number, actual: number): ObjectFault {
  return new ObjectFault("incomplete-body", `${announced} octets were announced, ${actual} came`);
}

/** Whether the write may have happened although it failed: the answer was lost, not the write. */
function isUncertain(error: unknown): boolean {
  return error instanceof DatabaseFault && error.kind === "unavailable";
}
