/** A name of a zone as the snapshot keeps it: its flags, its key, its RRsets. */
import {
  ENTRY,
  KEY_MASK,
  KEY_SHIFT,
  SEGMENT_BITS,
  SEGMENT_MASK,
  SETS_SHIFT,
  wordsFor,
} from "./layout.ts";
import type { SharedMemory } from "./memory.ts";
import type { SetBuilder } from "./rrset.ts";

/** Whether the entry's key is `key[start, end)`. */
export function hasKey(
  memory: SharedMemory,
  entry: number,
  key: Uint8Array,
  start: number,
  end: number,
): boolean {
  const length = (memory.get(entry, ENTRY.meta) >>> KEY_SHIFT) & KEY_MASK;
  if (length !== end - start) return false;
  const bytes = memory.bytes[entry >>> SEGMENT_BITS]!;
  const at = (entry & SEGMENT_MASK) + ENTRY.key - start;
  for (let i = start; i < end; i++) if (bytes[at + i] !== key[i]) return false;
  return true;
}

/** Writes an entry's block: what all kinds of entry have in common. Returns its address. */
export function writeEntry(
  memory: SharedMemory,
  entry: {
    readonly flags: number;
    readonly own: number;
    readonly key: Uint8Array;
    /** Words between the key and the sets. */
    readonly body: number;
    readonly sets: SetBuilder | null;
  },
): number {
  const { flags, own, key, body, sets } = entry;
  const bodyAt = ENTRY.key + 4 * wordsFor(key.length);
  // A name has no words of its own between: its sets follow its key at once.
  const setsAt = body === 0 ? ENTRY.key + key.length : bodyAt + 4 * body;
  const address = memory.allocate(wordsFor(setsAt + (sets?.length ?? 0)));
  const meta = flags | (key.length << KEY_SHIFT) | ((sets?.count ?? 0) << SETS_SHIFT);
  memory.set(address, ENTRY.meta, meta);
  memory.set(address, ENTRY.own, own);
  const bytes = memory.bytes[address >>> SEGMENT_BITS]!;
  const at = address & SEGMENT_MASK;
  bytes.set(key, at + ENTRY.key);
  if (sets !== null) bytes.set(sets.octets, at + setsAt);
  return address;
}
