/** Cursors of lists: the place where the next page begins, with a check against what is none of ours. */
import { hash } from "node:crypto";
import { ObjectFault } from "./fault.ts";
import { MAX_KEY_OCTETS } from "./limits.ts";

const CHECK_OCTETS = 6;

export function cursorAt(place: Uint8Array): string {
  return Buffer.concat([checkOf(place), place]).toString("base64url");
}

/** Throws for a text that no list has given. */
export function placeOf(cursor: string): Uint8Array {
  const octets = Buffer.from(cursor, "base64url");
  const place = octets.subarray(CHECK_OCTETS);
  // The first place behind a key is an octet longer than the key.
  const isOurs =
    place.length > 0 && place.length <= MAX_KEY_OCTETS + 1 && cursorAt(place) === cursor;
  if (!isOurs) throw new ObjectFault("bad-cursor", "The cursor is none that a list has given");
  return place;
}

function checkOf(place: Uint8Array): Buffer {
  return hash("sha256", place, "buffer").subarray(0, CHECK_OCTETS);
}
