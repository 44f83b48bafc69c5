/** Whose request it is when trusted proxies stand in between. */
import { isIP } from "node:net";
import { type Ranges, unmapped } from "#kit/cidr.ts";

/**
 * The nearest address in `X-Forwarded-For` that is not a trusted proxy. Read from the right: each
 * proxy appends the address it saw, and what stands left of an untrusted one can be invented.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  trusted: Ranges | null,
): string {
  let address = unmapped(peer);
  if (trusted === null || forwardedFor === undefined) return address;
  const hops = forwardedFor.split(",").map((hop) => unmapped(hop.trim()));
  while (trusted.has(address)) {
    const previous = hops.pop();
    if (previous === undefined || isIP(previous) === 0) break;
    address = previous;
  }
  return address;
}
