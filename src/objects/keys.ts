/** Keys as octets of UTF-8, whose order is that of lists. Nothing in them is special: no path, no end. */
import { ObjectFault } from "./fault.ts";
import { MAX_KEY_OCTETS } from "./limits.ts";

const NUL = Uint8Array.of(0);

/** UTF-8 never has this octet: it lies behind every key. */
export const BEHIND_ALL_KEYS = Uint8Array.of(0xff);

/** Throws unless the text can be a key. */
export function checkKey(key: string): void {
  // No character is longer than three octets for each of its UTF-16 units.
  if (key.length * 3 > MAX_KEY_OCTETS && Buffer.byteLength(key) > MAX_KEY_OCTETS) {
    throw new ObjectFault("bad-key", `A key has at most ${MAX_KEY_OCTETS} octets of UTF-8`);
  }
  checkText(key);
}

/** Throws for text that UTF-8 cannot hold. */
export function checkText(text: string): void {
  if (!text.isWellFormed()) {
    throw new ObjectFault("bad-key", "A key must be well-formed text, without lone surrogates");
  }
}

/** The first place behind a key. */
export function behind(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, NUL]);
}

/** The first place behind all keys that begin so. The last octet of UTF-8 is never the highest. */
export function behindPrefix(prefix: Uint8Array): Uint8Array {
  if (prefix.length === 0) return BEHIND_ALL_KEYS;
  const end = Uint8Array.from(prefix);
  end[end.length - 1]! += 1;
  return end;
}

export function later(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Buffer.compare(a, b) < 0 ? b : a;
}
