/** Heads and gets: finds an object's row and opens what holds its octets. */
import type { Database } from "#db";
import { closing, leave } from "./bodies.ts";
import { conditionsHold } from "./conditions.ts";
import type { BlobDriver, OpenBlob } from "./driver.ts";
import { type Cipher, Seal } from "./encryption.ts";
import { ObjectFault } from "./fault.ts";
import type { Holds } from "./holds.ts";
import { checkKey } from "./keys.ts";
import type {
  Body,
  Bucket,
  ByteRange,
  GetOptions,
  GetResult,
  HeadOptions,
  ObjectInfo,
} from "./model.ts";
import { type FoundObject, infoOf, type InfoRow, objectInfo, wholeObject } from "./object-rows.ts";
import { type PartRow, partsFrom, partsWithin } from "./part-rows.ts";
import { resolveRange } from "./ranges.ts";
import type { RecentObjects } from "./recent-objects.ts";

/** Each time another write went through between the look at the row and at its blob. */
const MAX_ATTEMPTS = 10;

/** Rows of parts read at a time: they are few, and small but for the last part's. */
const PARTS_AT_ONCE = 64;

export interface ReadingOptions {
  readonly db: Database;
  readonly blobs: BlobDriver;
  readonly holds: Holds;
  readonly recent: RecentObjects;
}

export class Reading {
  readonly #db: Database;
  readonly #blobs: BlobDriver;
  readonly #holds: Holds;
  /** Null where others than this process change objects. */
  readonly #recent: RecentObjects | null;

  constructor({ db, blobs, holds, recent }: ReadingOptions) {
    this.#db = db;
    this.#blobs = blobs;
    this.#holds = holds;
    this.#recent = db.shared ? null : recent;
  }

  async head(bucket: Bucket, key: string, options?: HeadOptions): Promise<ObjectInfo | null> {
    checkKey(key);
    const row = this.#recent?.info(bucket, key) ?? (await this.#readInfo(bucket, key));
    if (row !== null && options !== undefined) Seal.open(row.encryption, options.encryption);
    return row && infoOf({ ...row, key }, row.metadata ?? {});
  }

  async get(bucket: Bucket, key: string, options: GetOptions): Promise<GetResult> {
    checkKey(key);
    const { conditions, partNumber } = options;
    let version = "";
    for (let attempt = 1; ; attempt++) {
      const row =
        (attempt === 1 ? this.#recent?.whole(bucket, key) : null) ??
        (await this.#readWhole(bucket, key));
      if (row === null) return { kind: "missing" };
      const object = infoOf({ ...row, key }, row.metadata ?? {});
      const seal = Seal.open(row.encryption, options.encryption);
      if (conditions !== undefined && !conditionsHold(conditions, object)) {
        return { kind: "condition-failed", object };
      }
      const range =
        partNumber === undefined
          ? resolveRange(options.range, object.size)
          : await this.#rangeOfPart(row, partNumber);
      const body = range && (await this.#open(row, range, seal));
      if (range !== null && body !== null) {
        const isInFiles = row.body === null && seal === null && this.#blobs.areFiles === true;
        return { kind: "found", object, range, body, isInFiles };
      }
      // Its blob is gone: the object was replaced in between, unless it is still the same.
      if (attempt === MAX_ATTEMPTS || row.version === version) throw missing(key, row);
      version = row.version;
    }
  }

  async #readInfo(bucket: Bucket, key: string): Promise<InfoRow | null> {
    const quiet = this.#recent?.before(bucket, key) ?? null;
    const row = await this.#db.first(objectInfo({ bucket: bucket.number, key }));
    if (row !== null && quiet !== null) this.#recent!.noteInfo(bucket, key, quiet, row);
    return row;
  }

  async #readWhole(bucket: Bucket, key: string): Promise<FoundObject | null> {
    const quiet = this.#recent?.before(bucket, key) ?? null;
    const row = await this.#db.first(wholeObject({ bucket: bucket.number, key }));
    if (row !== null && quiet !== null) this.#recent!.noteWhole(bucket, key, quiet, row);
    return row;
  }

  /** Null when the parts are gone. */
  async #rangeOfPart(row: FoundObject, partNumber: number): Promise<ByteRange | null> {
    if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > (row.partCount ?? 1)) {
      throw new ObjectFault("no-such-part", `The object has no part ${partNumber}`);
    }
    if (row.partCount === null) return { offset: 0, length: row.size };
    const asked = { upload: row.blob!, skipped: partNumber - 1, limit: 1 };
    const part = await this.#db.first(partsFrom(asked));
    return part && { offset: part.start, length: part.size };
  }

  async #open(
    row: FoundObject,
    range: ByteRange,
    seal: Seal | null,
  ): Promise<Uint8Array | Body | null> {
    const { body, blob } = row;
    if (range.length === 0) return new Uint8Array(0);
    const cipher = cipherOf(seal, row.encryption?.iv ?? null, range.offset);
    if (body !== null) {
      const octets =
        range.length === body.length
          ? body
          : body.subarray(range.offset, range.offset + range.length);
      return cipher?.(octets) ?? octets;
    }
    if (blob === null) return null;
    const hold = this.#holds.reading(blob);
    if (hold === null) return null;
    try {
      const octets =
        row.partCount === null
          ? await this.#openBlob(blob, row.size, range, cipher)
          : await this.#openParts(blob, range, seal);
      if (octets === null) hold[Symbol.dispose]();
      return octets && closing(octets, async () => hold[Symbol.dispose]());
    } catch (error) {
      hold[Symbol.dispose]();
      throw error;
    }
  }

  /** A blob that is not as long as it was is damaged: better no octets than those of something else. */
  async #openBlob(
    id: string,
    size: number,
    range: ByteRange,
    cipher: Cipher | null,
  ): Promise<Body | null> {
    const blob = await this.#blobs.open(id).catch((cause: unknown) => {
      if (cause instanceof ObjectFault) throw cause;
      throw new ObjectFault("unavailable", "The object's octets cannot be read", { cause });
    });
    if (blob === null) return null;
    if (blob.size === size) {
      const octets = octetsOf(blob, range);
      return cipher === null ? octets : deciphered(octets, cipher);
    }
    await blob[Symbol.asyncDispose]();
    const damage = `The object's octets are damaged: ${blob.size} are there of ${size}`;
    throw new ObjectFault("unavailable", damage);
  }

  /** The parts behind the first are opened when their turn comes: the hold keeps them. */
  async #openParts(upload: string, range: ByteRange, seal: Seal | null): Promise<Body | null> {
    const parts = this.#partsWithin(upload, range);
    const first = await parts.next();
    if (first.done === true) return null;
    const open = (part: PartRow) => this.#openPart(part, range, seal);
    const opened = await open(first.value);
    return opened && closing(chained(opened, parts, open), () => leave(opened));
  }

  async *#partsWithin(upload: string, range: ByteRange): AsyncGenerator<PartRow> {
    const { offset, length } = range;
    const asked = { upload, offset, end: offset + length, limit: PARTS_AT_ONCE };
    let parts: PartRow[];
    let after = 0;
    do {
      parts = await this.#db.all(partsWithin({ ...asked, after }));
      yield* parts;
      after = parts.at(-1)?.number ?? after;
    } while (parts.length === PARTS_AT_ONCE);
  }

  /** What the range has of this part. */
  async #openPart(part: PartRow, range: ByteRange, seal: Seal | null): Promise<Body | null> {
    const offset = Math.max(range.offset - part.start, 0);
    const end = Math.min(range.offset + range.length - part.start, part.size);
    const cipher = cipherOf(seal, part.iv, offset);
    if (part.blob !== null) {
      return this.#openBlob(part.blob, part.size, { offset, length: end - offset }, cipher);
    }
    const octets = part.body!.subarray(offset, end);
    return once(cipher?.(octets) ?? octets);
  }
}

/** Not a generator: the first piece of each part would be asked for without what its reader offers. */
function chained(
  first: Body,
  parts: AsyncGenerator<PartRow>,
  open: (part: PartRow) => Promise<Body | null>,
): AsyncIterableIterator<Uint8Array> {
  let octets = first[Symbol.asyncIterator]();
  let isLeft = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next(...offer: [] | [unknown]) {
      for (;;) {
        const step = await octets.next(...offer);
        if (step.done !== true) return step;
        const part = await parts.next();
        if (part.done === true) return { done: true, value: undefined };
        const next = await open(part.value);
        if (next === null) {
          throw new ObjectFault("unavailable", `Part ${part.value.number} is missing`);
        }
        octets = next[Symbol.asyncIterator]();
        if (isLeft) await octets.return?.(); // While it was opened.
      }
    },
    async return() {
      isLeft = true;
      await octets.return?.();
      await parts.return(undefined);
      return { done: true, value: undefined };
    },
  };
}

/** For octets from an offset on; null for what is not encrypted, or has no `iv` since its parts have. */
function cipherOf(seal: Seal | null, iv: string | null, offset: number): Cipher | null {
  return seal === null || iv === null ? null : seal.cipher(iv, offset);
}

function deciphered(octets: Body, cipher: Cipher): Body {
  async function* plain(): Body {
    for await (const some of octets) yield cipher(some);
  }
  return closing(plain(), () => leave(octets));
}

function octetsOf(blob: OpenBlob, range: ByteRange): Body {
  return closing(blob.read(range), async () => {
    await blob[Symbol.asyncDispose]();
  });
}

async function* once(octets: Uint8Array): Body {
  yield octets;
}

function missing(key: string, { version }: FoundObject): ObjectFault {
  return new ObjectFault(
    "unavailable",
    `The octets of ${JSON.stringify(key)} (${version}) are missing`,
  );
}
