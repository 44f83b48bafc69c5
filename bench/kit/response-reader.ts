/** Finds where HTTP/1.1 responses end in a stream of bytes, by Content-Length alone. RFC 9112 §6. */

const HEAD_END = Buffer.from("\r\n\r\n");
const NAME = Buffer.from("content-length:");
const STATUS_OFFSET = "HTTP/1.1 ".length;
const LINE_FEED = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
/** Turns an ASCII capital into its small letter; `-` and `:` have the bit already. */
const SMALL = 0x20;

/** More than any server under measurement sends; a stream without end is a fault. */
const MAX_HEAD_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

export class ResponseReader {
  /** The start of a head whose end has not come yet. */
  #head: Buffer = NOTHING;
  #bodyLeft = 0;

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
      if (this.#bodyLeft === 0) {
        const bodyAt = this.#takeHead(bytes, at, end);
        if (bodyAt === null) return complete;
        at = bodyAt;
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
    this.#bodyLeft = contentLength(bytes, at, headEnd);
    return headEnd + HEAD_END.length;
  }
}

function checkStatus(bytes: Buffer, at: number, end: number): void {
  const digits = at + STATUS_OFFSET;
  const is200 =
    bytes[digits] === ZERO + 2 && bytes[digits + 1] === ZERO && bytes[digits + 2] === ZERO;
  if (!is200)
    throw new Error(`The server did not answer 200:\n${bytes.toString("latin1", at, end)}`);
}

function contentLength(bytes: Buffer, at: number, headEnd: number): number {
  for (let line = at; line < headEnd;) {
    if (startsWithName(bytes, line)) return number(bytes, line + NAME.length);
    const feed = bytes.indexOf(LINE_FEED, line);
    line = feed + 1;
  }
  throw new Error(`An answer without Content-Length:\n${bytes.toString("latin1", at, headEnd)}`);
}

function startsWithName(bytes: Buffer, at: number): boolean {
  for (let index = 0; index < NAME.length; index++) {
    if ((bytes[at + index]! | SMALL) !== NAME[index]) return false;
  }
  return true;
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
