/** Answers that leave in one write: their octets are at hand, and few. */
import type { ServerResponse } from "node:http";

/** Up to here it is quicker to copy octets than to have the system gather them. */
export const SMALL_ANSWER = 16 * 1024;

/** Ends the answer. Of text Node makes one piece with the head, where octets stay a piece of their own. */
export function endWith(response: ServerResponse, octets: Uint8Array): void {
  if (octets.length > SMALL_ANSWER) response.end(octets);
  else {
    const { buffer, byteOffset, length } = octets;
    response.end(Buffer.from(buffer, byteOffset, length).toString("latin1"), "latin1");
  }
}
