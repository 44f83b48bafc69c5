/** Tags: names and values that rules may ask for. The limits are those of S3. */
import { ObjectFault } from "./fault.ts";

const MAX_NAME_CHARACTERS = 128;
const MAX_VALUE_CHARACTERS = 256;

/** Throws unless there are at most so many, and each can be kept. */
export function checkTags(tags: Readonly<Record<string, string>>, most: number): void {
  const entries = Object.entries(tags);
  if (entries.length > most) throw bad(`There may be at most ${most} tags, not ${entries.length}`);
  for (const [name, value] of entries) {
    if (name.length === 0 || name.length > MAX_NAME_CHARACTERS || !name.isWellFormed()) {
      throw bad(`A tag's key has from 1 to ${MAX_NAME_CHARACTERS} characters`);
    }
    if (value.length > MAX_VALUE_CHARACTERS || !value.isWellFormed()) {
      throw bad(`A tag's value has at most ${MAX_VALUE_CHARACTERS} characters`);
    }
  }
}

function bad(message: string): ObjectFault {
  return new ObjectFault("bad-tags", message);
}
