/** Questions about the server itself, in class CH. RFC 4892. */
import { CLASS, RCODE, TYPE } from "./codes.ts";
import type { Query } from "./query.ts";
import type { Reply } from "./reply.ts";

/** Lower-case wire names, and which of the two texts each asks for. */
const QUESTIONS = new Map<string, "version" | "identity">([
  ["\x07version\x04bind\x00", "version"],
  ["\x07version\x06server\x00", "version"],
  ["\x08hostname\x04bind\x00", "identity"],
  ["\x02id\x06server\x00", "identity"],
]);

const QUESTION_NAME = 12;

export function answerChaos(
  query: Query,
  reply: Reply,
  texts: { readonly version: Uint8Array | null; readonly identity: Uint8Array | null },
): number {
  const { octets, length } = query.name;
  const asked = QUESTIONS.get(String.fromCharCode(...octets.subarray(0, length)));
  const text = asked === undefined ? null : texts[asked];
  if (text === null || (query.type !== TYPE.TXT && query.type !== TYPE.ANY)) return RCODE.REFUSED;
  reply.authoritative = true;
  const classAt = reply.at + 4;
  if (!reply.record(QUESTION_NAME, TYPE.TXT, 0, characterString(text), 0, text.length + 1)) {
    reply.truncate();
    return RCODE.NOERROR;
  }
  reply.out[classAt + 1] = CLASS.CH;
  reply.answers = 1;
  return RCODE.NOERROR;
}

function characterString(text: Uint8Array): Uint8Array {
  return Uint8Array.of(text.length, ...text);
}
