/** Headers as signatures see them: lower-case names, and the values of a repeated one with commas between. */
import type { IncomingMessage } from "node:http";

/**
 * Node's own record has the same, but for names that come more than once: of some it keeps the first,
 * others it joins with a blank more.
 */
export function signedHeaders({
  headers,
  rawHeaders,
}: IncomingMessage): Readonly<Record<string, string>> {
  let names = 0;
  for (const _ in headers) names++;
  if (names * 2 === rawHeaders.length) return headers as Record<string, string>;
  const joined: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = rawHeaders[i + 1]!;
    joined[name] = Object.hasOwn(joined, name) ? `${joined[name]},${value}` : value;
  }
  return joined;
}
