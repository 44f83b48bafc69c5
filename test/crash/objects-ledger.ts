/** What a store may hold, by what its writer has begun and what was acknowledged. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { type Line, md5Of, type Operation, type Outcome, type Piece } from "./objects-work.ts";

/** What a key or a part may hold; no pieces: nothing. */
export interface Possibility {
  readonly began: number;
  /** Infinity until it is acknowledged. */
  done: number;
  readonly pieces: readonly Piece[] | null;
  readonly etag: string | null;
  /** Of what was acknowledged. */
  version: string | null;
  /** The completion that makes it. */
  readonly uploadId: string | null;
}

export interface OpenUpload {
  readonly key: string;
  readonly parts: Map<number, Place>;
  /** A completion or an abort has begun. */
  isEnding: boolean;
}

/** A key, or a part: what it may hold by all that was written to it. */
export class Place {
  #possible: Possibility[] = [nothing(-1)];

  get possible(): readonly Possibility[] {
    return this.#possible;
  }

  begin(write: Possibility): void {
    this.#possible.push(write);
  }

  /** Happened: what was acknowledged before it began cannot be there any more. */
  happened(write: Possibility): void {
    this.#possible = this.#possible.filter(({ done }) => done >= write.began);
  }

  /** Did not happen. */
  drop(write: Possibility): void {
    this.#possible = this.#possible.filter((one) => one !== write);
  }

  /** It was looked at: the only one from now on. */
  settle(found: Possibility): void {
    this.#possible = [{ ...found, done: found.began }];
  }
}

interface Begun {
  readonly operation: Operation;
  readonly writes: readonly (readonly [Place, Possibility])[];
}

export class Ledger {
  readonly keys = new Map<string, Place>();
  readonly uploads = new Map<string, OpenUpload>();
  readonly #begun = new Map<number, Begun>();
  #time = 0;
  acknowledged = 0;
  inFlight = 0;

  take(line: Line): void {
    this.#time++;
    if ("begin" in line) this.#begin(line.begin, line.operation);
    else if ("done" in line) this.#done(line.done, line.outcome);
    else if ("failed" in line) assert.fail(`Operation ${line.failed} failed: ${line.message}`);
  }

  place(key: string): Place {
    const place = this.keys.get(key) ?? new Place();
    this.keys.set(key, place);
    return place;
  }

  /** The writer is gone: what it had begun may have happened or not. */
  cut(): void {
    this.inFlight += this.#begun.size;
    this.#begun.clear();
  }

  #begin(number: number, operation: Operation): void {
    const writes = this.#writesOf(operation);
    for (const [place, write] of writes) place.begin(write);
    if (operation.kind === "complete" || operation.kind === "abort") {
      this.uploads.get(operation.uploadId)!.isEnding = true;
    }
    this.#begun.set(number, { operation, writes });
  }

  #writesOf(operation: Operation): (readonly [Place, Possibility])[] {
    const began = this.#time;
    switch (operation.kind) {
      case "put":
        return [[this.place(operation.key), value(began, [operation.piece])]];
      case "delete":
        return Array.from(new Set(operation.keys), (key) => [this.place(key), nothing(began)]);
      case "part": {
        const { parts } = this.uploads.get(operation.uploadId)!;
        const place = parts.get(operation.partNumber) ?? new Place();
        parts.set(operation.partNumber, place);
        return [[place, value(began, [operation.piece])]];
      }
      case "complete": {
        const { key, pieces, uploadId } = operation;
        return [[this.place(key), value(began, pieces, uploadId)]];
      }
      default:
        return [];
    }
  }

  #done(number: number, { version, etag, uploadId }: Outcome): void {
    const { operation, writes } = this.#begun.get(number)!;
    this.#begun.delete(number);
    this.acknowledged++;
    for (const [place, write] of writes) {
      if (operation.kind === "put" && version === null) {
        place.drop(write); // Its condition did not hold.
        continue;
      }
      if (write.etag !== null) assert.equal(etag, write.etag, `of operation ${number}`);
      write.done = this.#time;
      write.version = version ?? null;
      place.happened(write);
    }
    if (operation.kind === "create") {
      this.uploads.set(uploadId!, { key: operation.key, parts: new Map(), isEnding: false });
    } else if (operation.kind === "complete" || operation.kind === "abort") {
      this.uploads.delete(operation.uploadId);
    }
  }

  /** Takes what is known of the uploads themselves: those that were being ended, have they been? */
  settleUploads(isOpen: (uploadId: string) => boolean): void {
    for (const [uploadId, upload] of this.uploads) {
      const open = isOpen(uploadId);
      assert.ok(open || upload.isEnding, `Upload ${uploadId} is gone`);
      const place = this.place(upload.key);
      const completion = place.possible.find((one) => one.uploadId === uploadId);
      if (completion !== undefined && open) place.drop(completion);
      if (completion !== undefined && !open) place.happened(completion);
      upload.isEnding = false;
      if (!open) this.uploads.delete(uploadId);
    }
  }
}

function nothing(began: number): Possibility {
  return { began, done: began < 0 ? began : Infinity, ...NOTHING };
}
const NOTHING = { pieces: null, etag: null, version: null, uploadId: null };

function value(
  began: number,
  pieces: readonly Piece[],
  uploadId: string | null = null,
): Possibility {
  const etag = uploadId === null ? md5Of(pieces[0]!) : etagOfPieces(pieces);
  return { began, done: Infinity, pieces, etag, version: null, uploadId };
}

function etagOfPieces(pieces: readonly Piece[]): string {
  const md5s = pieces.map(md5Of).join("");
  return `${hash("md5", Buffer.from(md5s, "hex"), "hex")}-${pieces.length}`;
}
