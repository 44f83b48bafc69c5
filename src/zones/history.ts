/** The history of a zone: what each serial changed, kept small. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { RecordChange } from "./draft.ts";

/** One change of a zone: who, when, and each record before and after. */
export interface HistoryEntry {
  readonly serial: number;
  readonly at: number;
  readonly actor: string;
  readonly changes: readonly RecordChange[];
}

/** Below this, packing takes longer than it saves. */
const WORTH_PACKING = 2_048;
/** What the first byte says of the rest. */
const PLAIN = 0;
const PACKED = 1;

export function packChanges(changes: readonly RecordChange[]): Uint8Array {
  const json = Buffer.from(JSON.stringify(changes.map(({ before, after }) => [before, after])));
  return json.length < WORTH_PACKING
    ? Buffer.concat([Uint8Array.of(PLAIN), json])
    : Buffer.concat([Uint8Array.of(PACKED), deflateRawSync(json)]);
}

export function unpackChanges(packed: Uint8Array): RecordChange[] {
  const body = Buffer.from(packed.subarray(1));
  const json = packed[0] === PLAIN ? body : inflateRawSync(body);
  const pairs = JSON.parse(json.toString()) as [RecordChange["before"], RecordChange["after"]][];
  return pairs.map(([before, after]) => ({ before, after }));
}

/** What takes a zone from after these entries, newest first, back to before them. */
export function reversed(entries: readonly HistoryEntry[]): RecordChange[] {
  const undone = new Map<string, RecordChange>();
  for (const { changes } of entries) {
    for (const { before, after } of changes) {
      const id = (before ?? after)!.id;
      const later = undone.get(id);
      undone.set(id, { before: later === undefined ? after : later.before, after: before });
    }
  }
  return [...undone.values()].filter(({ before, after }) => before !== null || after !== null);
}
