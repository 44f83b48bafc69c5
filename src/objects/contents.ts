/** Takes in the octets of a put or a part: counted, hashed, small ones kept at hand, large ones as a blob. */
import { type Database, isDatabaseFault } from "#db";
import { randomId } from "#kit/random.ts";
import type { BlobDriver } from "./driver.ts";
import { type Cipher, newIv, type Seal } from "./encryption.ts";
import { ObjectFault } from "./fault.ts";
import type { HashThread } from "./hash-thread.ts";
import {
  type Asked,
  type Digests,
  type Hashing,
  hashHere,
  hashOnThread,
  hashWhole,
} from "./hashing.ts";
import type { Holds } from "./holds.ts";
import type { ObjectLimits } from "./limits.ts";
import type { Body, BodyOptions, Checksums } from "./model.ts";
import { namedAmong } from "./orphans.ts";

/** Octets that were taken in: their `body`, or the blob that holds them; nothing where there are none. */
export interface Content {
  readonly size: number;
  /** The MD5 of the octets, unless they are encrypted: it would tell of them. */
  readonly etag: string;
  /** Beside such an MD5. */
  readonly checksums: Checksums | null;
  readonly body: Uint8Array | null;
  readonly blob: string | null;
  /** Where the encryption of the octets begins. */
  readonly iv: string | null;
}

/** What is known of a body, and how it is to be kept. */
export interface Intake extends BodyOptions {
  readonly seal: Seal | null;
}

type Commit<T> = (content: Content) => Promise<T>;

/**
 * Bodies that may have more than this are hashed on a thread of their own. For 256 KiB that costs no more in all, and
 * takes more than half off this thread.
 */
const HASHED_HERE = 128 * 1024;

export interface ContentsOptions {
  readonly db: Database;
  readonly blobs: BlobDriver;
  readonly holds: Holds;
  readonly hashThread: HashThread;
  readonly limits: ObjectLimits;
}

export class Contents {
  readonly #db: Database;
  readonly #blobs: BlobDriver;
  readonly #holds: Holds;
  readonly #hashThread: HashThread;
  readonly #limits: ObjectLimits;

  constructor({ db, blobs, holds, hashThread, limits }: ContentsOptions) {
    this.#db = db;
    this.#blobs = blobs;
    this.#holds = holds;
    this.#hashThread = hashThread;
    this.#limits = limits;
  }

  /**
   * Takes the body in and has it committed. When the commit gives null or cannot have happened, nothing is
   * left behind.
   */
  store<T>(body: Body | Uint8Array, intake: Intake, commit: Commit<T>): Promise<T> {
    return body instanceof Uint8Array && body.length <= this.#limits.inlineOctets
      ? commit(inline(body, intake))
      : this.#read(body, intake, commit);
  }

  async #read<T>(body: Body | Uint8Array, intake: Intake, commit: Commit<T>): Promise<T> {
    const { bodyOctets, inlineOctets } = this.#limits;
    const size = body instanceof Uint8Array ? body.length : (intake.size ?? null);
    const source = new Source(body, intake.size, bodyOctets);
    const head = size !== null && size > inlineOctets ? [] : await source.readPast(inlineOctets);
    if (source.isOver) return commit(inline(joined(head), intake));
    const blob = randomId();
    using _ = this.#holds.writing(blob);
    const asked = askedOf(intake);
    const isShort = size !== null && size <= HASHED_HERE;
    const hashing = isShort ? hashHere(asked) : hashOnThread(this.#hashThread, asked);
    const iv = intake.seal && newIv();
    const kept = intake.seal?.cipher(iv!) ?? asIs;
    const { md5, checksums } = await this.#keep(blob, head, source, hashing, kept);
    const etag = md5 ?? randomId();
    let result: T | null = null;
    try {
      result = await commit({ size: source.size, etag, checksums, body: null, blob, iv });
    } catch (error) {
      if (!(await this.#mayBeNamed(blob, error))) await this.#forget(blob);
      throw error;
    }
    if (result === null) await this.#forget(blob);
    return result;
  }

  async #keep(
    blob: string,
    head: readonly Uint8Array[],
    source: Source,
    hashing: Hashing,
    kept: Cipher,
  ): Promise<Digests> {
    let digests: Digests | null = null;
    async function* passing(): Body {
      for await (const octets of hashing.pass(source.from(head))) yield kept(octets);
      digests = await source.check(() => hashing.finish());
    }
    try {
      await this.#blobs.put(blob, passing());
    } catch (error) {
      if (digests === null) hashing.leave();
      await source.leave();
      if (source.failure !== null) throw source.failure.error;
      if (error instanceof ObjectFault) throw error;
      throw new ObjectFault("unavailable", "The octets could not be stored", { cause: error });
    }
    return digests!;
  }

  /** Whether the commit may have happened although it failed: its answer was lost, or is yet to come. */
  async #mayBeNamed(blob: string, error: unknown): Promise<boolean> {
    if (!isDatabaseFault(error, "unavailable")) return false;
    if (this.#db.shared) return true; // The server may still be at it. The sweep will know.
    return (await namedAmong(this.#db, [blob]).catch(() => [blob])).length > 0;
  }

  async #forget(blob: string): Promise<void> {
    // What is left over is found by the sweep; the caller must hear of its own trouble.
    await this.#blobs.delete([blob]).catch(() => {});
  }
}

function inline(body: Uint8Array, intake: Intake): Content {
  const { seal, size = body.length } = intake;
  if (size !== body.length) throw wrongSize(size, body.length);
  const { md5, checksums } = hashWhole(body, askedOf(intake));
  const iv = seal && newIv();
  const octets = seal?.cipher(iv!)(body) ?? body;
  const kept = size === 0 ? null : octets;
  return { size, etag: md5 ?? randomId(), checksums, body: kept, blob: null, iv };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

function askedOf({ checksums = [], seal }: Intake): Asked {
  return { hasMd5Etag: seal === null, checksums };
}

function asIs(octets: Uint8Array): Uint8Array {
  return octets;
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

  /** Reads to the end, or until there is more than this. Copies: octets are good until the next are asked for. */
  async readPast(octets: number): Promise<Uint8Array[]> {
    const head: Uint8Array[] = [];
    while (this.size <= octets) {
      const next = await this.next();
      if (next === null) break;
      head.push(Buffer.from(next));
    }
    return head;
  }

  /** From the head on, which has been read already. */
  async *from(head: readonly Uint8Array[]): Body {
    yield* head;
    for (let next = await this.next(); next !== null; next = await this.next()) yield next;
  }

  /** Null at the end. */
  async next(): Promise<Uint8Array | null> {
    try {
      if ((this.#announced ?? 0) > this.#limit) throw tooLarge(this.#limit);
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
      if (this.size > this.#limit) throw tooLarge(this.#limit);
      return value;
    } catch (error) {
      this.failure = { error };
      await this.leave();
      throw error;
    }
  }

  /** A body that is not what was announced is a body that fails: whoever reads it drops what it has. */
  async check<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.failure = { error };
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

function tooLarge(limit: number): ObjectFault {
  return new ObjectFault("too-large", `A body has at most ${limit} octets`);
}

function wrongSize(announced: number, actual: number): ObjectFault {
  return new ObjectFault("incomplete-body", `${announced} octets were announced, ${actual} came`);
}
