/** The history of a zone: what each serial changed, kept small. */
import { pipeline } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
import { createDeflateRaw, deflateRawSync, inflateRawSync } from "node:zlib";
import type { RecordChange } from "./draft.ts";
import type { ZoneRecord } from "./record.ts";

/** One change of a zone: who, when, and each record before and after. */
export interface HistoryEntry {
  readonly serial: number;
  readonly at: number;
  readonly actor: string;
  readonly changes: readonly RecordChange[];
}

/** Below this, packing takes longer than it saves. */
const WORTH_PACKING = 2_048;
/** Changes whose text is made at a time. */
const PIECE = 500;
/** What the first byte says of the rest. */
const PLAIN = 0;
const PACKED = 1;

export async function packChanges(changes: readonly RecordChange[]): Promise<Uint8Array> {
  if (changes.length > PIECE) return packInPieces(changes);
  const json = Buffer.from(JSON.stringify(changes.map(pairOf)));
  return json.length < WORTH_PACKING
    ? Buffer.concat([Uint8Array.of(PLAIN), json])
    : Buffer.concat([Uint8Array.of(PACKED), deflateRawSync(json)]);
}

/** The text of a large change is many megabytes: it is never whole, and others get their turn. */
async function packInPieces(changes: readonly RecordChange[]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [Uint8Array.of(PACKED)];
  await pipeline(jsonPieces(changes), createDeflateRaw(), async (packed: AsyncIterable<Buffer>) => {
    for await (const chunk of packed) chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

function* jsonPieces(changes: readonly RecordChange[]): Generator<string, void> {
  for (let from = 0; from < changes.length; from += PIECE) {
    const piece = JSON.stringify(changes.slice(from, from + PIECE).map(pairOf));
    yield `${from === 0 ? "[" : ","}${piece.slice(1, -1)}`;
  }
  yield "]";
}

function pairOf({ before, after }: RecordChange) {
  return [before, after];
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
  return [...undone.values()].filter(({ before, after }) => !isSame(before, after));
}

/** When a record was last written is no part of what it says. */
function isSame(before: ZoneRecord | null, after: ZoneRecord | null): boolean {
  if (before === null || after === null) return before === after;
  return isDeepStrictEqual({ ...before, modifiedAt: 0 }, { ...after, modifiedAt: 0 });
}
