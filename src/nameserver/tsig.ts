/** A query that is signed with a key that is not known here. RFC 8945 §5.2.1. */
import { TYPE } from "./codes.ts";
import type { Query } from "./query.ts";
import type { Reply } from "./reply.ts";

const BADKEY = 17;
const CLASS_ANY = 255;

/** Writes the TSIG record that says so: unsigned, with the key and the time as they were sent. */
export function writeBadKey(query: Query, reply: Reply): void {
  const { message, start, limit } = query;
  const keyName = nameAt(message, start, start + query.tsigAt, limit);
  const rdata = keyName.end + 10;
  const algorithm = nameAt(message, start, rdata, limit);
  const macLength = (message[algorithm.end + 8]! << 8) | message[algorithm.end + 9]!;
  const idAt = algorithm.end + 10 + macLength;
  if (idAt + 2 > limit) return;
  const octets = [
    ...keyName.octets,
    ...[0, TYPE.TSIG, 0, CLASS_ANY, 0, 0, 0, 0],
    ...u16(algorithm.octets.length + 16),
    ...algorithm.octets,
    ...message.subarray(algorithm.end, algorithm.end + 8), // When it was signed, and how exactly.
    ...u16(0), // No MAC.
    ...message.subarray(idAt, idAt + 2),
    ...u16(BADKEY),
    ...u16(0),
  ];
  if (reply.at + octets.length > reply.limit) return;
  for (const octet of octets) reply.out[reply.at++] = octet;
  reply.additionals++;
}

function u16(value: number): [number, number] {
  return [value >> 8, value & 0xff];
}

/** A name without its pointers, and where it ends. The query's names were checked when it was read. */
function nameAt(
  message: Uint8Array,
  start: number,
  from: number,
  limit: number,
): { octets: number[]; end: number } {
  const octets: number[] = [];
  let end = -1;
  for (let at = from; at < limit && octets.length < 256;) {
    const size = message[at]!;
    if (size >= 0xc0) {
      if (end < 0) end = at + 2;
      const target = start + (((size & 0x3f) << 8) | message[at + 1]!);
      if (target >= at) break;
      at = target;
      continue;
    }
    octets.push(...message.subarray(at, at + size + 1));
    at += size + 1;
    if (size === 0) return { octets, end: end < 0 ? at : end };
  }
  return { octets: [0], end: end < 0 ? limit : end };
}
