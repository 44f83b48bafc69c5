/**
 * A query to a resolver, hard to forge a reply to: its id and the case of its letters are random, and a reply
 * must repeat both. RFC 5452 §9; "0x20" for the letters.
 */
import { WireWriter } from "#dns";
import { CLASS, TYPE } from "../codes.ts";
import type { TargetType } from "./target-store.ts";

export interface Query {
  readonly name: string;
  readonly type: TargetType;
  readonly bytes: Uint8Array;
  /** Where the question ends; it starts after the header. */
  readonly questionEnd: number;
}

export interface QueryOptions {
  /** Leaves the OPT record out, for resolvers that take it for an error. RFC 6891 §7. */
  readonly edns: boolean;
  readonly random: (octets: number) => Uint8Array;
}

export const HEADER_OCTETS = 12;
/** What passes every path in one piece. RFC 9715. */
const UDP_PAYLOAD = 1232;
const RECURSION_DESIRED = 0x0100;
/** A bit for each octet of the longest name. */
const SPELLING_OCTETS = 32;

export function makeQuery(name: string, type: TargetType, { edns, random }: QueryOptions): Query {
  const chance = random(2 + SPELLING_OCTETS);
  const writer = new WireWriter();
  writer.bytes(chance.subarray(0, 2));
  writer.u16(RECURSION_DESIRED);
  writer.u16(1);
  writer.u16(0);
  writer.u16(0);
  writer.u16(edns ? 1 : 0);
  writer.name(name);
  const nameEnd = writer.at;
  writer.u16(type);
  writer.u16(CLASS.IN);
  const questionEnd = writer.at;
  if (edns) writeOpt(writer);
  const bytes = writer.finish();
  spellAtRandom(bytes.subarray(HEADER_OCTETS, nameEnd), chance.subarray(2));
  return { name, type, bytes, questionEnd };
}

function writeOpt(writer: WireWriter): void {
  writer.name(".");
  writer.u16(TYPE.OPT);
  writer.u16(UDP_PAYLOAD);
  writer.u32(0);
  writer.u16(0);
}

/** Turns letters to upper case by the bits given. A label's length is at most 63, so it is no letter. */
function spellAtRandom(name: Uint8Array, bits: Uint8Array): void {
  for (let i = 0; i < name.length; i++) {
    const turn = (bits[i >> 3]! >> (i & 7)) & 1;
    if (turn === 1 && isLetter(name[i]!)) name[i]! ^= 0x20;
  }
}

/** `respelt`: the right id and question, but for the case of its letters. */
export type Match = "exact" | "respelt" | "none";

/** Whether a message is the reply to the query. */
export function matchReply({ bytes, questionEnd }: Query, reply: Uint8Array): Match {
  const isReply =
    reply.length >= questionEnd &&
    reply[0] === bytes[0] &&
    reply[1] === bytes[1] &&
    (reply[2]! & 0xf8) === 0x80 && // A response, to a plain query.
    reply[4] === 0 &&
    reply[5] === 1;
  if (!isReply) return "none";
  let match: Match = "exact";
  for (let i = HEADER_OCTETS; i < questionEnd; i++) {
    const difference = reply[i]! ^ bytes[i]!;
    if (difference === 0) continue;
    if (difference !== 0x20 || !isLetter(bytes[i]!)) return "none";
    match = "respelt";
  }
  return match;
}

/** Whether there was more than a datagram could hold. */
export function isTruncated(reply: Uint8Array): boolean {
  return (reply[2]! & 0x02) !== 0;
}

function isLetter(octet: number): boolean {
  const lower = octet | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
