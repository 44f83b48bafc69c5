/** A query that is signed with a key that is not known here. RFC 8945 §5.2.1. */
import { CLASS, TYPE } from "./codes.ts";
import type { Query } from "./query.ts";
import type { Reply } from "./reply.ts";
import { NameCursor } from "./snapshot/name-cursor.ts";

const BADKEY = 17;
/** Type, class, TTL and RDLENGTH. */
const HEAD_OCTETS = 10;
/** Time signed, fudge and the MAC's size. */
const SIGNING_OCTETS = 10;
/** Original id, error and the length of other data. */
const TAIL_OCTETS = 6;

/** What of a TSIG record comes back. */
export interface Tsig {
  readonly keyName: Uint8Array;
  readonly algorithm: Uint8Array;
  /** When it was signed, and how exactly. */
  readonly signing: Uint8Array;
  readonly originalId: Uint8Array;
}

/** Reads the query's TSIG record; null when it is none. Its names are not compressed. RFC 8945 §4.2. */
export function readTsig({ message, start, limit, tsigAt }: Query): Tsig | null {
  const name = new NameCursor(0);
  const keyAt = start + tsigAt;
  const head = name.read(message, keyAt, limit);
  if (head < 0 || head + HEAD_OCTETS > limit) return null;
  const rdata = head + HEAD_OCTETS;
  const end = rdata + u16(message, head + 8);
  const signing = name.read(message, rdata, end);
  if (signing < 0 || signing + SIGNING_OCTETS > end) return null;
  const idAt = signing + SIGNING_OCTETS + u16(message, signing + 8);
  if (idAt + TAIL_OCTETS > end || idAt + TAIL_OCTETS + u16(message, idAt + 4) !== end) return null;
  return {
    keyName: message.slice(keyAt, head),
    algorithm: message.slice(rdata, signing),
    signing: message.slice(signing, signing + 8),
    originalId: message.slice(idAt, idAt + 2),
  };
}

/** Writes the record that says that the key is not known: unsigned. */
export function writeBadKey(tsig: Tsig, reply: Reply): void {
  const { keyName, algorithm, signing, originalId } = tsig;
  const length = algorithm.length + signing.length + 2 + TAIL_OCTETS;
  const head = [0, TYPE.TSIG, 0, CLASS.ANY, 0, 0, 0, 0, length >> 8, length & 0xff];
  const noMac = [0, 0];
  const tail = [0, BADKEY, 0, 0];
  const octets = [keyName, head, algorithm, signing, noMac, originalId, tail].flatMap((part) => [
    ...part,
  ]);
  if (reply.at + octets.length > reply.limit) return;
  for (const octet of octets) reply.out[reply.at++] = octet;
  reply.additionals++;
}

function u16(octets: Uint8Array, at: number): number {
  return (octets[at]! << 8) | octets[at + 1]!;
}
