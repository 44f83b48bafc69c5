/**
 * Bodies in chunks of S3's own: `hex-size[;chunk-signature=…] CRLF data CRLF`, an empty one at the end, then
 * trailers. Read in place: pieces of data are views of what came.
 *
 * Data is given on before the signature of its chunk is known, since a chunk may be as large as the body: a wrong
 * one fails the body at its end, and of a body that fails nothing is stored.
 */
import { S3Fault } from "../fault.ts";
import type { ChunkSignatures } from "./chunk-signatures.ts";

export interface ChunkedOptions {
  /** Octets of data that there must be. */
  readonly length: number;
  /** Null where chunks are not signed. */
  readonly signatures: ChunkSignatures | null;
  /** The names in the trailer, in lower case, all of which must come; null where there is none. */
  readonly trailer: readonly string[] | null;
  /** Hears what each of them says. */
  readonly onTrailer: (name: string, value: string) => void;
}

/** A size, a signature and whatever extensions a client may add. */
const MAX_LINE_BYTES = 4 * 1024;
/** Checksums and a signature. */
const MAX_TRAILER_BYTES = 16 * 1024;
/** What may follow the end: clients send a line break too many. */
const MAX_LEFT_OVER_BYTES = 1024;

const CRLF = "\r\n";
const SIGNATURE = "x-amz-trailer-signature";

export async function* decodeChunked(
  octets: AsyncIterable<Uint8Array>,
  options: ChunkedOptions,
): AsyncGenerator<Uint8Array> {
  const reader = new ChunkReader(options);
  for await (const piece of octets) yield* reader.push(piece);
  reader.end();
}

/** The same of a body that is all there. */
export function decodeWhole(octets: Uint8Array, options: ChunkedOptions): Uint8Array {
  const reader = new ChunkReader(options);
  const pieces = [...reader.push(octets)];
  reader.end();
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

type State = "size" | "data" | "data-end" | "trailer" | "over";

class ChunkReader {
  readonly #options: ChunkedOptions;
  #state: State = "size";
  /** Octets of a line whose end has not come. */
  #held: Buffer = Buffer.alloc(0);
  /** Octets still to come in the chunk. */
  #left = 0;
  #signature = "";
  #received = 0;
  readonly #missing: Set<string>;
  #trailer = "";
  #trailerSignature: string | null = null;
  #leftOver = 0;

  constructor(options: ChunkedOptions) {
    this.#options = options;
    this.#missing = new Set(options.trailer);
  }

  /** Gives the data among the octets. */
  *push(piece: Uint8Array): Generator<Uint8Array> {
    const octets =
      this.#held.length === 0
        ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
        : Buffer.concat([this.#held, piece]);
    let at = 0;
    while (at < octets.length) {
      if (this.#state === "over") {
        this.#passOver(octets.length - at);
        return;
      }
      if (this.#state === "data") {
        const data = octets.subarray(at, at + this.#left);
        at += data.length;
        this.#take(data);
        yield data;
        continue;
      }
      const end = octets.indexOf(CRLF, at);
      if (end === -1 || end - at > MAX_LINE_BYTES) break;
      this.#line(octets.toString("latin1", at, end));
      at = end + CRLF.length;
    }
    this.#hold(octets.subarray(at));
  }

  end(): void {
    if (this.#state === "trailer") {
      if (this.#held.length > 0) this.#line(this.#held.toString("latin1"));
      if (this.#state === "trailer") this.#endTrailer();
    }
    if (this.#state !== "over") throw incomplete("The last chunk is missing.");
  }

  #hold(rest: Buffer): void {
    if (rest.length > MAX_LINE_BYTES) throw malformed("a line does not end");
    // A copy: the piece may be a large one, or be filled anew.
    this.#held = Buffer.from(rest);
  }

  #take(data: Uint8Array): void {
    this.#left -= data.length;
    this.#received += data.length;
    this.#options.signatures?.update(data);
    if (this.#left === 0) this.#state = "data-end";
  }

  #line(line: string): void {
    switch (this.#state) {
      case "size":
        return this.#beginChunk(line);
      case "data-end":
        if (line !== "") throw malformed("a chunk is longer than its size");
        this.#state = "size";
        return this.#endChunk();
      default:
        return this.#trailerLine(line);
    }
  }

  #beginChunk(line: string): void {
    const [size = "", ...extensions] = line.split(";");
    if (!/^[0-9a-f]{1,12}\s*$/i.test(size)) throw malformed("a chunk has no size");
    const mark = "chunk-signature=";
    const signed = extensions.find((extension) => extension.trim().startsWith(mark));
    this.#signature = signed?.trim().slice(mark.length) ?? "";
    this.#left = Number.parseInt(size, 16);
    if (this.#received + this.#left > this.#options.length) {
      throw incomplete("There is more data than x-amz-decoded-content-length says.");
    }
    if (this.#left > 0) this.#state = "data";
    else this.#lastChunk();
  }

  #endChunk(): void {
    this.#options.signatures?.endChunk(this.#signature);
  }

  #lastChunk(): void {
    this.#endChunk();
    if (this.#received !== this.#options.length) {
      throw incomplete("There is less data than x-amz-decoded-content-length says.");
    }
    this.#state = "trailer";
  }

  #trailerLine(line: string): void {
    if (line === "") return this.#endTrailer();
    const colon = line.indexOf(":");
    if (colon < 1) throw malformed("a trailer has no name");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === SIGNATURE) {
      this.#trailerSignature = value;
      return;
    }
    this.#trailer += `${name}:${value}\n`;
    if (this.#trailer.length > MAX_TRAILER_BYTES) throw malformed("its trailer is too long");
    // What was not announced nobody counts on.
    if (this.#missing.delete(name)) this.#options.onTrailer(name, value);
  }

  #endTrailer(): void {
    const { trailer, signatures } = this.#options;
    if (trailer !== null) signatures?.endTrailer(this.#trailer, this.#trailerSignature ?? "");
    if (this.#missing.size > 0) throw malformed(`it lacks ${[...this.#missing].join(", ")}`);
    this.#state = "over";
  }

  #passOver(octets: number): void {
    this.#leftOver += octets;
    this.#held = Buffer.alloc(0);
    if (this.#leftOver > MAX_LEFT_OVER_BYTES) throw malformed("it goes on after its end");
  }
}

function incomplete(why: string): S3Fault {
  return new S3Fault("IncompleteBody", `The request body is not whole. ${why}`);
}

function malformed(why: string): S3Fault {
  return new S3Fault("InvalidRequest", `The chunks of the request body cannot be read: ${why}.`);
}
