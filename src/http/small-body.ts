/** Bodies that leave with their head in one write: their octets are at hand, and few. */
import type { ServerResponse } from "node:http";
import { ServerResponse as NodeResponse } from "#kit/node-http.ts";

/** Up to here it is quicker to copy octets than to have the system gather them. */
export const SMALL_BODY = 16 * 1024;

/** A character an octet, so that it can stand behind a head. */
export function latinOf(octets: Uint8Array): string {
  return asBuffer(octets).toString("latin1");
}

function asBuffer(octets: Uint8Array): Buffer {
  if (Buffer.isBuffer(octets)) return octets;
  const { buffer, byteOffset, length } = octets;
  return Buffer.from(buffer, byteOffset, length);
}

/** Ends the answer. Of text Node makes one piece with the head, where octets stay a piece of their own. */
export function endWith(response: ServerResponse, octets: Uint8Array): void {
  if (octets.length > SMALL_BODY || !(response instanceof NodeResponse)) response.end(octets);
  else response.end(latinOf(octets), "latin1");
}
