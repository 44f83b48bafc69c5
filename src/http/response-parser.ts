/**
 * Reads the responses of a server we sent requests to. RFC 9112. Strict where two readers might see two
 * different messages: what is not plain is a fault, and the connection is not used again.
 */

export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** Name, value, name, value: as they came. */
  readonly headers: readonly string[];
  /** Octets of the body; null when it comes in chunks or until the connection ends. */
  readonly length: number | null;
}

/** Who hears of a response, in this order. */
export interface ResponseSink {
  /** News before it: 100, 103 and their like. RFC 9110 §15.2. */
  interim(head: ResponseHead): void;
  head(head: ResponseHead): void;
  data(octets: Buffer): void;
  /**
   * The response is whole. `reusable` tells whether another may follow on the connection. Trailers are name, value,
   * name, value: as they came.
   */
  end(reusable: boolean, trailers: readonly string[]): void;
}

export class ResponseFault extends Error {
  override readonly name = "ResponseFault";
}

/** Status line and headers of a response together; four times what most servers send at most. */
const MAX_HEAD = 64 * 1024;
/** The size of a chunk with its extensions, or all that trailers say: sums and statuses, seldom more than a line each. */
const MAX_LINE = 8 * 1024;

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_FEED = 0x0a;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
/** RFC 9110 §5.1, §5.5. */
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/;
const CHUNK_SIZE = /^([0-9a-fA-F]{1,13})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

/** What the next octets are. */
const HEAD = 0;
const BY_LENGTH = 1;
const UNTIL_CLOSE = 2;
const CHUNK_LINE = 3;
const CHUNK = 4;
const CHUNK_END = 5;
const TRAILER = 6;
const NOTHING = 7;

/** It has no length, whatever is said. RFC 9110 §8.6. */
const NO_CONTENT = 204;

const EMPTY = Buffer.alloc(0);
const NO_TRAILERS: readonly string[] = [];

export class ResponseParser {
  readonly #sink: ResponseSink;
  #place = NOTHING;
  /** Of a head or a line whose end has not come yet. */
  #kept: Buffer = EMPTY;
  #left = 0;
  #isHead = false;
  #trailers: string[] | null = null;
  #trailerOctets = 0;
  #reusable = true;
  #switched = false;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** A request was sent; what comes now is its response. */
  expect(method: string): void {
    this.#place = HEAD;
    this.#isHead = method === "HEAD";
    this.#trailers = null;
    this.#trailerOctets = 0;
    this.#reusable = true;
  }

  /** Takes what came; returns what follows a response that ends HTTP on the connection (101). */
  take(octets: Buffer): Buffer | null {
    let rest = this.#kept.length === 0 ? octets : Buffer.concat([this.#kept, octets]);
    this.#kept = EMPTY;
    while (rest.length > 0 || (this.#place === BY_LENGTH && this.#left === 0)) {
      const next = this.#step(rest);
      if (next === null) {
        this.#kept = Buffer.from(rest); // What they lie in may be read into again.
        return null;
      }
      if (this.#switched) return next;
      rest = next;
    }
    return null;
  }

  /** At most so many octets of a body are still to come. */
  get expected(): number {
    if (this.#place === BY_LENGTH) return this.#left;
    return this.#place === HEAD || this.#place === NOTHING ? 0 : Infinity;
  }

  /** The connection has ended. Throws when a response was under way. */
  close(): void {
    if (this.#place === UNTIL_CLOSE) this.#finish(false);
    else if (this.#place !== NOTHING) throw new ResponseFault("The connection broke off");
  }

  /** One step through what came; null when it needs more to go on. */
  #step(octets: Buffer): Buffer | null {
    switch (this.#place) {
      case HEAD:
        return this.#takeHead(octets);
      case BY_LENGTH:
        return this.#takeLength(octets);
      case UNTIL_CLOSE:
        this.#sink.data(octets);
        return EMPTY;
      case CHUNK:
        return this.#takeChunk(octets);
      case NOTHING:
        throw new ResponseFault("An answer came that nobody asked for");
      default:
        return this.#takeLine(octets);
    }
  }

  #takeHead(octets: Buffer): Buffer | null {
    const end = octets.indexOf(HEAD_END);
    if (end === -1) {
      if (octets.length > MAX_HEAD) throw new ResponseFault(`A head of over ${MAX_HEAD} octets`);
      return null;
    }
    const rest = octets.subarray(end + HEAD_END.length);
    const head = readHead(octets.toString("latin1", 0, end));
    if (head.status === 101) {
      this.#switched = true;
      this.#place = NOTHING;
      this.#sink.head(head);
    } else if (head.status >= 200) this.#begin(head);
    else this.#sink.interim(head);
    return rest;
  }

  #begin(head: Framed): void {
    const hasNoBody = this.#isHead || head.status === NO_CONTENT || head.status === 304;
    this.#reusable = head.keepsAlive;
    this.#left = head.length ?? 0;
    if (hasNoBody) this.#place = NOTHING;
    else if (head.isChunked) this.#place = CHUNK_LINE;
    else this.#place = head.length === null ? UNTIL_CLOSE : BY_LENGTH;
    this.#sink.head(head);
    if (hasNoBody) this.#finish(this.#reusable);
  }

  #takeLength(octets: Buffer): Buffer {
    const taken = Math.min(this.#left, octets.length);
    this.#left -= taken;
    if (taken > 0) this.#sink.data(taken === octets.length ? octets : octets.subarray(0, taken));
    if (this.#left === 0) this.#finish(this.#reusable);
    return octets.subarray(taken);
  }

  #takeChunk(octets: Buffer): Buffer {
    const taken = Math.min(this.#left, octets.length);
    this.#left -= taken;
    this.#sink.data(octets.subarray(0, taken));
    if (this.#left === 0) this.#place = CHUNK_END;
    return octets.subarray(taken);
  }

  /** The line before a chunk, the empty one behind it, or a line of the trailer. */
  #takeLine(octets: Buffer): Buffer | null {
    const end = octets.indexOf(LINE_FEED);
    if (end > MAX_LINE || (end === -1 && octets.length > MAX_LINE)) {
      throw new ResponseFault(`A line of over ${MAX_LINE} octets between chunks`);
    }
    if (end === -1) return null;
    const line = octets.toString("latin1", 0, end);
    if (!line.endsWith("\r")) throw new ResponseFault("A line between chunks ends in a bare LF");
    this.#hearLine(line.slice(0, -1));
    return octets.subarray(end + 1);
  }

  #hearLine(line: string): void {
    if (this.#place === TRAILER) {
      if (line === "") this.#finish(this.#reusable);
      else this.#hearTrailer(line);
    } else if (this.#place === CHUNK_END) {
      if (line !== "") throw new ResponseFault("A chunk is longer than it says");
      this.#place = CHUNK_LINE;
    } else {
      const size = CHUNK_SIZE.exec(line)?.[1];
      if (size === undefined) throw new ResponseFault("The size of a chunk is no number");
      this.#left = Number.parseInt(size, 16);
      this.#place = this.#left === 0 ? TRAILER : CHUNK;
    }
  }

  #hearTrailer(line: string): void {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined) throw new ResponseFault("A trailer of the answer is malformed");
    this.#trailerOctets += line.length;
    if (this.#trailerOctets > MAX_LINE) {
      throw new ResponseFault(`Trailers of over ${MAX_LINE} octets`);
    }
    (this.#trailers ??= []).push(name, value!.trimEnd());
  }

  #finish(reusable: boolean): void {
    this.#place = NOTHING;
    this.#sink.end(reusable, this.#trailers ?? NO_TRAILERS);
  }
}

interface Framed extends ResponseHead {
  readonly isChunked: boolean;
  readonly keepsAlive: boolean;
}

function readHead(text: string): Framed {
  const lines = text.split("\r\n");
  const first = STATUS_LINE.exec(lines[0]!);
  if (first === null) throw new ResponseFault("The answer is no HTTP/1.1");
  const status = Number(first[2]);
  const headers: string[] = [];
  let [length, isChunked, connection] = [null as number | null, false, ""];
  for (let i = 1; i < lines.length; i++) {
    const line = HEADER_LINE.exec(lines[i]!);
    if (line === null) throw new ResponseFault("A header of the answer is malformed");
    const [, name, value] = line as unknown as [string, string, string];
    // Told apart by their length first: nearly all headers are neither.
    if (name.length === 14 && name.toLowerCase() === "content-length") {
      const isSaid = length !== null || status === NO_CONTENT;
      length = lengthOf(value.trim(), length);
      if (isSaid) continue;
    } else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      if (isChunked || value.trim().toLowerCase() !== "chunked") {
        throw new ResponseFault("The answer has a transfer coding other than chunked");
      }
      isChunked = true;
    } else if (name.length === 10 && name.toLowerCase() === "connection") {
      connection = value.toLowerCase();
    }
    headers.push(name, value.trimEnd());
  }
  if (isChunked && length !== null) throw new ResponseFault("The answer has two lengths");
  return {
    status,
    reason: first[3] ?? "",
    headers,
    length,
    isChunked,
    keepsAlive: first[1] === "1" && !connection.includes("close"),
  };
}

function lengthOf(value: string, earlier: number | null): number {
  if (!/^\d{1,15}$/.test(value)) throw new ResponseFault("The answer's length is no number");
  if (earlier !== null && earlier !== Number(value)) {
    throw new ResponseFault("The answer has two lengths");
  }
  return Number(value);
}
