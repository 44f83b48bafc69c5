/** Finds where HTTP/1.1 responses end in a stream of bytes, by their length or by their chunks. RFC 9112 §6. */

const HEAD_END = Buffer.from("\r\n\r\n");
const LENGTH = Buffer.from("content-length:");
const CODING = Buffer.from("transfer-encoding:");
const STATUS_OFFSET = "HTTP/1.1 ".length;
const LINE_FEED = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
/** Turns an ASCII capital into its small letter; `-` and `:` have the bit already. */
const SMALL = 0x20;

/** More than any server under measurement sends; a stream without end is a fault. */
const MAX_HEAD_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

/** Where in a body that comes in chunks the next byte stands. */
const SIZE = 0;
const REST_OF_LINE = 1;
const OCTETS = 2;
const BEHIND_OCTETS = 3;
const TRAILER = 4;

export class ResponseReader {
  /** The start of a head whose end has not come yet. */
  #head: Buffer = NOTHING;
  #bodyLeft = 0;
  #inChunks = false;
  #place = SIZE;
  /** Of a trailer's line, to know an empty one. */
  #lineLength = 0;

  /** Takes the first `length` bytes of a buffer; returns how many responses ended in them. */
  take(buffer: Buffer, length: number): number {
    let bytes = buffer;
    let end = length;
    if (this.#head.length > 0) {
      bytes = Buffer.concat([this.#head, buffer.subarray(0, length)]);
      end = bytes.length;
      this.#head = NOTHING;
    }
    let at = 0;
    let complete = 0;
    while (at < end) {
      if (this.#inChunks) {
        at = this.#takeChunks(bytes, at, end);
        if (!this.#inChunks) complete++;
        continue;
      }
      if (this.#bodyLeft === 0) {
        const bodyAt = this.#takeHead(bytes, at, end);
        if (bodyAt === null) return complete;
        at = bodyAt;
        if (this.#inChunks) continue;
      }
      const step = Math.min(this.#bodyLeft, end - at);
      at += step;
      this.#bodyLeft -= step;
      if (this.#bodyLeft === 0) complete++;
    }
    return complete;
  }

  /** Returns where the body begins; null when the head goes on in the next bytes. */
  #takeHead(bytes: Buffer, at: number, end: number): number | null {
    const headEnd = bytes.indexOf(HEAD_END, at);
    // Past `end` there may be bytes of an earlier read.
    if (headEnd === -1 || headEnd + HEAD_END.length > end) {
      if (end - at > MAX_HEAD_BYTES) throw new Error(`A head of over ${MAX_HEAD_BYTES} bytes`);
      this.#head = Buffer.from(bytes.subarray(at, end)); // A copy: the buffer is used again.
      return null;
    }
    checkStatus(bytes, at, end);
    const length = lineOf(bytes, at, headEnd, LENGTH);
    this.#bodyLeft = length === null ? 0 : number(bytes, length);
    this.#inChunks = length === null;
    this.#place = SIZE;
    if (length === null && lineOf(bytes, at, headEnd, CODING) === null) {
      throw new Error(`An answer without a length:\n${bytes.toString("latin1", at, headEnd)}`);
    }
    return headEnd + HEAD_END.length;
  }

  /** Returns where it stopped: behind the response's end, or at the end of the bytes. */
  #takeChunks(bytes: Buffer, from: number, end: number): number {
    for (let at = from; at < end;) {
      if (this.#place === OCTETS) {
        const step = Math.min(this.#bodyLeft, end - at);
        at += step;
        this.#bodyLeft -= step;
        if (this.#bodyLeft === 0) this.#place = BEHIND_OCTETS;
      } else if (this.#takeByte(bytes[at++]!)) {
        this.#inChunks = false;
        return at;
      }
    }
    return end;
  }

  /** A byte that is none of the body's own; returns whether it ends the response. */
  #takeByte(byte: number): boolean {
    const digit = hexDigit(byte);
    if (this.#place === SIZE && digit !== -1) this.#bodyLeft = this.#bodyLeft * 16 + digit;
    else if (this.#place === SIZE && byte !== LINE_FEED) this.#place = REST_OF_LINE;
    else if (this.#place === TRAILER && byte !== LINE_FEED) this.#lineLength++;
    else if (byte === LINE_FEED) {
      if (this.#place === TRAILER && this.#lineLength <= 1) return true; // Its carriage return.
      if (this.#place === BEHIND_OCTETS) this.#place = SIZE;
      else this.#place = this.#bodyLeft === 0 ? TRAILER : OCTETS;
      this.#lineLength = 0;
    }
    return false;
  }
}

function checkStatus(bytes: Buffer, at: number, end: number): void {
  const digits = at + STATUS_OFFSET;
  const is200 =
    bytes[digits] === ZERO + 2 && bytes[digits + 1] === ZERO && bytes[digits + 2] === ZERO;
  if (!is200)
    throw new Error(`The server did not answer 200:\n${bytes.toString("latin1", at, end)}`);
}

/** Where the value of a header begins; null when the head has none of that name. */
function lineOf(bytes: Buffer, at: number, headEnd: number, name: Buffer): number | null {
  for (let line = at; line < headEnd;) {
    if (startsWith(bytes, line, name)) return line + name.length;
    line = bytes.indexOf(LINE_FEED, line) + 1;
  }
  return null;
}

function startsWith(bytes: Buffer, at: number, name: Buffer): boolean {
  for (let index = 0; index < name.length; index++) {
    if ((bytes[at + index]! | SMALL) !== name[index]) return false;
  }
  return true;
}

/** -1 for what is no digit. */
function hexDigit(byte: number): number {
  if (byte >= ZERO && byte <= ZERO + 9) return byte - ZERO;
  const letter = (byte | SMALL) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}

function number(bytes: Buffer, at: number): number {
  let index = at;
  while (bytes[index] === SPACE) index++;
  let value = 0;
  for (; bytes[index]! >= ZERO && bytes[index]! <= ZERO + 9; index++) {
    value = value * 10 + bytes[index]! - ZERO;
  }
  return value;
}
