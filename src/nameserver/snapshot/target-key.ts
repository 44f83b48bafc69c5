/** How names outside are found in the snapshot: by name and type. */
import type { NameCursor } from "./name-cursor.ts";

/** The key: the name, then the type, which is 1 or 28. */
export function targetKey(name: NameCursor, type: number, into: Uint8Array): Uint8Array {
  for (let i = 0; i < name.length; i++) into[i] = name.octets[i]!;
  into[name.length] = type;
  return into;
}

export function targetHash(name: number, type: number): number {
  return Math.imul(name ^ type, 0x9e37_79b1);
}
