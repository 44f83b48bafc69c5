/** Writes a response into a buffer: header, question, RRsets from the snapshot. RFC 1035 §4.1. */
import { TYPE } from "./codes.ts";
import type { Query } from "./query.ts";
import { CUT_SHORT, SET } from "./snapshot/layout.ts";

const FLAG = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
};

/** Opcode and "recursion desired" come back as they were sent; all else is ours. */
const COPIED_FLAGS = 0x7900;

const POINTER = 0xc000;
/** A pointer has 14 bits. */
export const POINTER_LIMIT = 0x4000;

/** Owner, type, class and TTL of a record; its RDLENGTH is counted with the RDATA. */
const RECORD_HEAD_OCTETS = 10;

export class Reply {
  out: Uint8Array = new Uint8Array(0);
  base = 0;
  /** Where the next octet goes. */
  at = 0;
  /** Where records must end: the message's limit, less what is kept for the OPT record. */
  limit = 0;
  answers = 0;
  authorities = 0;
  additionals = 0;
  authoritative = false;
  truncated = false;
  #questionEnd = 0;
  #questions = 0;
  #turn = 1;

  /** Begins with the header and the question, octet for octet. */
  begin(out: Uint8Array, base: number, query: Query): void {
    this.out = out;
    this.base = base;
    const { message, start, questionEnd } = query;
    for (let i = 0; i < questionEnd; i++) out[base + i] = message[start + i]!;
    this.#questions = questionEnd > 12 ? 1 : 0;
    this.#questionEnd = base + questionEnd;
    this.limit = 0;
    this.clear();
    this.authoritative = this.truncated = false;
  }

  /** Takes all records out again. */
  clear(): void {
    this.at = this.#questionEnd;
    this.answers = this.authorities = this.additionals = 0;
  }

  /** Leaves the records out and tells the client to ask over a stream. */
  truncate(): void {
    this.clear();
    this.truncated = true;
  }

  /** Where the next record's RDATA will stand, from the start of the message. */
  get nextRdata(): number {
    return this.at - this.base + RECORD_HEAD_OCTETS + 2;
  }

  /**
   * Writes a set of the snapshot under the name at `owner`; names that were cut short get a pointer to
   * `zone`. Returns how many records that were, 0 when they do not fit: a set is whole or absent.
   */
  set(bytes: Uint8Array, set: number, owner: number, zone: number, ttl: number): number {
    const count = (bytes[set + SET.count]! << 8) | bytes[set + SET.count + 1]!;
    const length = (bytes[set + SET.length]! << 8) | bytes[set + SET.length + 1]!;
    if (this.at + length + count * RECORD_HEAD_OCTETS > this.limit) return 0;
    const type = (bytes[set + SET.type]! << 8) | bytes[set + SET.type + 1]!;
    const first = set + SET.records;
    let record = first;
    if (count > 1 && (type === TYPE.A || type === TYPE.AAAA)) {
      record += this.turn(count) * (type === TYPE.A ? 6 : 18);
    }
    for (let i = 0; i < count; i++) {
      if (record === first + length) record = first;
      record = this.#record(bytes, record, owner, type, ttl, zone);
    }
    return count;
  }

  /** Which of so many addresses is the first this time: they take turns. */
  turn(count: number): number {
    // Random, for clients that ask for A and AAAA in turns would meet a counter at the same place.
    let turn = this.#turn;
    turn ^= turn << 13;
    turn ^= turn >>> 17;
    turn ^= turn << 5;
    this.#turn = turn;
    return (turn >>> 0) % count;
  }

  #record(
    bytes: Uint8Array,
    record: number,
    owner: number,
    type: number,
    ttl: number,
    zone: number,
  ): number {
    const { out } = this;
    let length = (bytes[record]! << 8) | bytes[record + 1]!;
    const isCut = (length & CUT_SHORT) !== 0 && (type === TYPE.MX || isNameType(type));
    if (isCut) length &= ~CUT_SHORT;
    let at = this.head(owner, type, ttl, length);
    const end = record + 2 + length;
    for (let i = record + 2; i < end; i++) out[at++] = bytes[i]!;
    if (isCut) {
      out[at - 2] = (POINTER | zone) >> 8;
      out[at - 1] = zone & 0xff;
    }
    this.at = at;
    return end;
  }

  /** Writes all of a record before its RDATA; returns where that begins. The room was checked. */
  head(owner: number, type: number, ttl: number, length: number): number {
    const { out } = this;
    const at = this.at;
    out[at] = (POINTER | owner) >> 8;
    out[at + 1] = owner & 0xff;
    out[at + 2] = type >> 8;
    out[at + 3] = type & 0xff;
    out[at + 4] = 0;
    out[at + 5] = 1;
    out[at + 6] = ttl >>> 24;
    out[at + 7] = (ttl >>> 16) & 0xff;
    out[at + 8] = (ttl >>> 8) & 0xff;
    out[at + 9] = ttl & 0xff;
    out[at + 10] = length >> 8;
    out[at + 11] = length & 0xff;
    return at + 12;
  }

  /** A record whose RDATA is part of a larger array; false when it does not fit. */
  record(
    owner: number,
    type: number,
    ttl: number,
    from: Uint8Array,
    start: number,
    length: number,
  ): boolean {
    if (this.at + RECORD_HEAD_OCTETS + 2 + length > this.limit) return false;
    let at = this.head(owner, type, ttl, length);
    for (let i = 0; i < length; i++) this.out[at++] = from[start + i]!;
    this.at = at;
    return true;
  }

  /** Writes the header; returns the message's length. */
  finish(query: Query, rcode: number): number {
    const { out, base } = this;
    const flags =
      FLAG.response |
      (query.flags & COPIED_FLAGS) |
      (this.authoritative ? FLAG.authoritative : 0) |
      (this.truncated ? FLAG.truncated : 0) |
      (rcode & 15);
    out[base + 2] = flags >> 8;
    out[base + 3] = flags & 0xff;
    out[base + 4] = 0;
    out[base + 5] = this.#questions;
    out[base + 6] = this.answers >> 8;
    out[base + 7] = this.answers & 0xff;
    out[base + 8] = this.authorities >> 8;
    out[base + 9] = this.authorities & 0xff;
    out[base + 10] = this.additionals >> 8;
    out[base + 11] = this.additionals & 0xff;
    return this.at - base;
  }
}

function isNameType(type: number): boolean {
  return type === TYPE.NS || type === TYPE.CNAME || type === TYPE.PTR;
}

/** The TTL that a set has of its own. */
export function ttlOf(bytes: Uint8Array, set: number): number {
  const at = set + SET.ttl;
  return (
    ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
  );
}
