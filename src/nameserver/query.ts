/** Reads a query in place and says what is wrong with it. RFC 1035 §4.1, RFC 6891, RFC 9619. */
import { OPCODE, OPTION, TYPE } from "./codes.ts";
import { NameCursor } from "./snapshot/name-cursor.ts";

/** What came of reading a message. */
export const READ = {
  /** It can be answered. */
  ok: 0,
  /** Not to be answered at all: no message, or a response. */
  drop: 1,
  formErr: 2,
  notImp: 3,
  /** Its EDNS version is not ours. */
  badVersion: 4,
  /** No question, only a cookie to be had. RFC 7873 §5.4. */
  cookieOnly: 5,
} as const;

const HEADER_OCTETS = 12;
/** The owner, type, class, TTL and length of an OPT record. */
const OPT_OCTETS = 11;
const DO_BIT = 0x8000;
/** A client cookie, and with it a server cookie of 8 to 32 octets. RFC 7873 §4. */
const CLIENT_COOKIE_OCTETS = 8;
const LEAST_FULL_COOKIE_OCTETS = 16;
const MAX_COOKIE_OCTETS = 40;

export class Query {
  readonly name: NameCursor;
  message: Uint8Array = new Uint8Array(0);
  start = 0;
  limit = 0;
  flags = 0;
  opcode = 0;
  type = 0;
  class = 0;
  /** Octets up to the end of the question; the header's when it cannot be read. */
  questionEnd = HEADER_OCTETS;

  hasOpt = false;
  udpSize = 0;
  dnssecOk = false;
  wantsNsid = false;
  wantsKeepalive = false;
  wantsExpire = false;
  wantsPadding = false;
  /** Where the cookie option's data stands in `message`, and how long it is; 0 for none. */
  cookieAt = 0;
  cookieLength = 0;
  /** Where a TSIG record begins, from the start of the message; 0 for none. */
  tsigAt = 0;
  #version = 0;
  #isBad = false;

  constructor(seed: number) {
    this.name = new NameCursor(seed);
  }

  read(message: Uint8Array, start: number, length: number): number {
    if (length < HEADER_OCTETS) return READ.drop;
    this.message = message;
    this.start = start;
    this.limit = start + length;
    this.flags = this.#u16(start + 2);
    if ((this.flags & 0x8000) !== 0) return READ.drop; // Answering responses makes loops.
    this.opcode = (this.flags >> 11) & 15;
    this.#forget();
    const questions = this.#u16(start + 4);
    if (this.opcode !== OPCODE.QUERY && this.opcode !== OPCODE.NOTIFY)
      return this.#foreign(questions);
    if (questions !== 1) return this.#withoutQuestion(questions);
    const end = this.name.read(message, start + HEADER_OCTETS, this.limit);
    if (end < 0 || end + 4 > this.limit) return READ.formErr;
    this.type = this.#u16(end);
    this.class = this.#u16(end + 2);
    this.questionEnd = end + 4 - start;
    return this.#readRest(end + 4);
  }

  #forget(): void {
    this.questionEnd = HEADER_OCTETS;
    this.name.length = this.name.labels = 0;
    this.type = this.class = 0;
    this.hasOpt = this.dnssecOk = this.#isBad = false;
    this.wantsNsid = this.wantsKeepalive = this.wantsPadding = this.wantsExpire = false;
    this.udpSize = this.cookieAt = this.cookieLength = this.tsigAt = this.#version = 0;
  }

  /** An opcode that is not served still gets an OPT back if it sent one that can be read. */
  #foreign(questions: number): number {
    let at = this.start + HEADER_OCTETS;
    for (let i = 0; i < questions && at >= 0; i++) {
      at = this.#skipName(at);
      if (at >= 0) at += 4;
    }
    if (at >= 0 && at <= this.limit) this.#readRest(at);
    return READ.notImp;
  }

  #withoutQuestion(questions: number): number {
    if (questions !== 0) return READ.formErr;
    const outcome = this.#readRest(this.start + HEADER_OCTETS);
    return outcome === READ.ok && this.cookieLength > 0 ? READ.cookieOnly : READ.formErr;
  }

  /** The records after the question. Octets after the last one are ignored. */
  #readRest(from: number): number {
    const { start } = this;
    const early = this.#u16(start + 6) + this.#u16(start + 8);
    const additional = this.#u16(start + 10);
    let at = from;
    for (let i = 0; i < early + additional; i++) {
      const owner = at;
      at = this.#skipName(at);
      if (at < 0 || at + 10 > this.limit) return READ.formErr;
      const type = this.#u16(at);
      const length = this.#u16(at + 8);
      if (at + 10 + length > this.limit) return READ.formErr;
      if (this.tsigAt !== 0) return READ.formErr; // It must be the last record. RFC 8945 §5.1.
      if (type === TYPE.OPT) {
        if (this.hasOpt || i < early || this.message[owner] !== 0) return READ.formErr;
        this.#readOpt(owner, length);
      } else if (type === TYPE.TSIG) {
        if (i < early) return READ.formErr;
        this.tsigAt = owner - start;
      }
      at += 10 + length;
    }
    if (this.#isBad) return READ.formErr;
    return this.#version === 0 ? READ.ok : READ.badVersion;
  }

  #readOpt(at: number, length: number): void {
    this.hasOpt = true;
    this.udpSize = this.#u16(at + 3);
    this.#version = this.message[at + 6]!;
    this.dnssecOk = (this.#u16(at + 7) & DO_BIT) !== 0;
    const end = at + OPT_OCTETS + length;
    let option = at + OPT_OCTETS;
    while (option < end) {
      if (option + 4 > end) return this.#bad();
      const size = this.#u16(option + 2);
      if (option + 4 + size > end) return this.#bad();
      // What another version means by its options is not ours to judge.
      if (this.#version === 0) this.#readOption(this.#u16(option), option + 4, size);
      option += 4 + size;
    }
  }

  #readOption(code: number, at: number, size: number): void {
    if (code === OPTION.NSID) this.wantsNsid = true;
    else if (code === OPTION.KEEPALIVE) this.wantsKeepalive = true;
    else if (code === OPTION.PADDING) this.wantsPadding = true;
    else if (code === OPTION.EXPIRE) this.wantsExpire = true;
    else if (code === OPTION.COOKIE) {
      const isWhole = size >= LEAST_FULL_COOKIE_OCTETS && size <= MAX_COOKIE_OCTETS;
      if (size !== CLIENT_COOKIE_OCTETS && !isWhole) return this.#bad();
      this.cookieAt = at;
      this.cookieLength = size;
    } else if (code === OPTION.ECS && !this.#isEcs(at, size)) this.#bad();
  }

  /** Family, source and scope prefix, then just the octets of the prefix. RFC 7871 §6. */
  #isEcs(at: number, size: number): boolean {
    if (size < 4) return false;
    const family = this.#u16(at);
    const bits = this.message[at + 2]!;
    const most = family === 1 ? 32 : family === 2 ? 128 : -1;
    if (most < 0) return family === 0 ? bits === 0 && size === 4 : true;
    if (bits > most || this.message[at + 3] !== 0 || size !== 4 + ((bits + 7) >> 3)) return false;
    const spare = (8 - (bits & 7)) & 7;
    return spare === 0 || (this.message[at + size - 1]! & ((1 << spare) - 1)) === 0;
  }

  #bad(): void {
    this.#isBad = true;
  }

  /**
   * Returns where the name ends, or -1. A pointer ends it and is not followed: it need only lead backwards,
   * and following millions of them is what a hostile message wants.
   */
  #skipName(from: number): number {
    let at = from;
    for (;;) {
      if (at >= this.limit) return -1;
      const size = this.message[at]!;
      if (size === 0) return at + 1;
      if (size >= 0xc0) {
        const isBackwards = at + 1 < this.limit && this.start + (this.#u16(at) & 0x3fff) < from;
        return isBackwards ? at + 2 : -1;
      }
      if (size > 63 || at + size + 1 - from > 254) return -1;
      at += size + 1;
    }
  }

  #u16(at: number): number {
    return (this.message[at]! << 8) | this.message[at + 1]!;
  }
}
