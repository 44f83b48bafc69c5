/** Answers whose octets are at hand. */
import type { ServerResponse } from "node:http";

/** Up to here it is quicker to copy octets than to have the system gather them. */
export const SMALL_ANSWER = 16 * 1024;

/** Ends the answer. As text, of which Node makes one piece with the head, small octets leave in one plain write. */
export function endWith(response: ServerResponse, octets: Uint8Array): void {
  if (octets.length > SMALL_ANSWER) response.end(octets);
  else {
    const { buffer, byteOffset, length } = octets;
    response.end(Buffer.from(buffer, byteOffset, length).latin1Slice(), "latin1");
  }
}
