/** How long a cache of HTTP may keep a response. RFC 8484 §5.1. */
import { RCODE, TYPE } from "./codes.ts";

const HEADER = 12;
/** Type and class of a question; type, class, TTL and length of a record. */
const QUESTION_TAIL = 4;
const RECORD_TAIL = 10;
const POINTER = 0xc0;

/**
 * The smallest TTL among the answers; where something does not exist the SOA's rule for that; null for
 * what must not be kept. Reads what our own responder wrote, and so checks nothing.
 */
export function freshSeconds(response: Uint8Array): number | null {
  const view = new DataView(response.buffer, response.byteOffset, response.byteLength);
  const rcode = response[3]! & 0x0f;
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return null;
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) =>
    view.getUint16(at),
  ) as [number, number, number, number];
  let at = HEADER;
  for (let i = 0; i < questions; i++) at = nameEnd(response, at) + QUESTION_TAIL;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < answers + authorities + additionals; i++) {
    at = nameEnd(response, at);
    const type = view.getUint16(at);
    const ttl = view.getUint32(at + 4);
    const end = at + RECORD_TAIL + view.getUint16(at + 8);
    if (i < answers) least = Math.min(least, ttl);
    // The last field of a SOA is how long what it denies may be taken for missing. RFC 2308 §5.
    else if (type === TYPE.SOA) least = Math.min(least, ttl, view.getUint32(end - 4));
    // An OPT has the high bits of the RCODE where others have a TTL. RFC 6891 §6.1.3.
    else if (type === TYPE.OPT && ttl >>> 24 !== 0) return null;
    at = end;
  }
  return Number.isFinite(least) ? least : null;
}

function nameEnd(message: Uint8Array, start: number): number {
  let at = start;
  while (message[at]! > 0) {
    if (message[at]! >= POINTER) return at + 2;
    at += message[at]! + 1;
  }
  return at + 1;
}
