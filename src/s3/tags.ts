/** Tags of an object in the header of its write. */
import { S3Fault } from "./fault.ts";

/** `a=b&c=d`, as forms have it. How many and how long they may be is the core's to say. */
export function tagsOfHeader(header: string): Record<string, string> {
  const tags = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(header)) {
    if (tags.has(key)) throw new S3Fault("InvalidTag", "Two tags have the same key.");
    tags.set(key, value);
  }
  return Object.fromEntries(tags);
}
