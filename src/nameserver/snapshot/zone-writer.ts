/** One zone in the snapshot: its names, and its own entry. */
import type { Zone } from "#zones";
import { encodeName } from "#dns";
import {
  BODY,
  ENTRY,
  FLAGS_MASK,
  KEY_MASK,
  KEY_SHIFT,
  NAME,
  SEGMENT_BITS,
  SEGMENT_MASK,
  SETS_SHIFT,
  wordsFor,
} from "./layout.ts";
import type { SharedMemory } from "./memory.ts";
import { hasKey, writeEntry } from "./name-block.ts";
import { NameCursor } from "./name-cursor.ts";
import type { SetBuilder, SetRecord } from "./rrset.ts";
import { nameFlags, type PlatformSets, served, type ServedRecord, zoneFlags } from "./served.ts";
import { type MapKey, SharedMap } from "./shared-map.ts";

/** A zone's own entry, its directory and that of all zones, and what they are when they double. */
const ZONE_ROOM = 8 * 1024 ** 2;
/** A name, or an ancestor that is made for it, without its records. */
const NAME_ROOM = 320;
/** A copy of a page and its two halves. */
const PAGES_ROOM = 8 * 1024;
/** What of that falls to each name of a zone when all its pages are copied and split. */
const SHARE_ROOM = 96;
/** What a record takes beside its text. */
const RECORD_ROOM = 512;

/** What all zones are written with. */
export interface ZoneWriterParts {
  readonly memory: SharedMemory;
  readonly platform: PlatformSets;
  readonly sets: SetBuilder;
  /** How many readers there will be; each counts a zone's queries in a place of its own. */
  readonly readers: number;
  /** A record cannot be served: a fault of ours, for it was checked when it came in. */
  readonly onBadRecord: (name: string, type: string, cause: unknown) => void;
}

export class ZoneWriter {
  readonly #parts: ZoneWriterParts;
  readonly #memory: SharedMemory;
  readonly #cursor: NameCursor;
  readonly #key: NameKey;
  /** The name in lower-case wire form, with the root's octet; and how many labels it has. */
  readonly name: Uint8Array;
  readonly hash: number;
  readonly #labels: number;
  readonly #names: SharedMap;
  readonly #counters: number;
  /** Names, with those that only stand for others below them. */
  #size = 1;
  #cuts = 0;
  #wildcards = 0;
  #apexNs: readonly ServedRecord[] = [];
  zone: Zone;

  constructor(parts: ZoneWriterParts, zone: Zone) {
    const { memory } = parts;
    this.#parts = parts;
    this.#memory = memory;
    this.zone = zone;
    this.#cursor = new NameCursor(memory.seed);
    this.#key = new NameKey(memory, this.#cursor);
    this.name = encodeName(`${zone.name}.`);
    this.#cursor.read(this.name, 0, this.name.length);
    this.#labels = this.#cursor.labels;
    this.hash = this.#cursor.hashes[0]!;
    this.#names = new SharedMap(memory, 0);
    this.#counters = memory.allocate(1 + parts.readers);
    for (let i = memory.get(this.#counters, 0) - 1; i > 0; i--) memory.set(this.#counters, i, 0);
    const apex = writeEntry(memory, {
      flags: 0,
      own: 0,
      key: new Uint8Array(0),
      body: 0,
      sets: null,
    });
    this.#names.put(this.#keyOf(0), apex);
  }

  /** More octets than a change of these names can need. */
  roomFor(names: Iterable<readonly [name: string, records: readonly ServedRecord[]]>): number {
    let [octets, keys] = [ZONE_ROOM, 0];
    for (const [name, records] of names) {
      keys += name.split(".").length;
      for (const { content } of records) octets += content.length + RECORD_ROOM;
    }
    // Each key may copy a page and split it; but no more pages are copied than there are.
    return (
      octets + keys * NAME_ROOM + Math.min(keys * PAGES_ROOM, (this.#size + keys) * SHARE_ROOM)
    );
  }

  /** Queries of each reader so far. */
  get counters(): readonly number[] {
    const length = this.#memory.get(this.#counters, 0) - 1;
    return Array.from({ length }, (_, i) => this.#memory.get(this.#counters, 1 + i) >>> 0);
  }

  /** Whether the name is the zone's, or lies below it. */
  holds(name: string): boolean {
    const zone = this.zone.name;
    if (!name.endsWith(zone)) return false;
    return name.length === zone.length || name[name.length - zone.length - 1] === ".";
  }

  /** Sets what stands at a name: text without its last dot, lower case, at or below the apex. */
  setName(name: string, records: readonly ServedRecord[]): void {
    if (!this.#cursor.readText(name)) {
      const wire = encodeName(`${name}.`);
      this.#cursor.read(wire, 0, wire.length);
    }
    const isApex = this.#cursor.labels === this.#labels;
    if (isApex) this.#apexNs = records.filter(({ type }) => type === "NS");
    const own = isApex ? records.filter(({ type }) => type !== "NS") : records;
    const key = this.#keyOf(0);
    const before = this.#names.get(key);
    const below = before === 0 ? 0 : this.#memory.get(before, ENTRY.own);
    if (own.length === 0 && below === 0 && !isApex) {
      if (before !== 0) this.#removeName(key);
      return;
    }
    this.#compile(name, own);
    const flags = nameFlags(own, isApex);
    const entry = this.#write(0, flags, below, this.#parts.sets);
    this.#count(before, -1);
    this.#put(key, entry);
    this.#count(entry, 1);
    if (before === 0) this.#growParents();
  }

  /** Writes the zone's own entry, which leads to all else. */
  finish(): number {
    const directory = this.#names.finish();
    const { sets, platform } = this.#parts;
    const edge = platform.edge(this.zone);
    sets.clear();
    const places = new Map<number, number>();
    for (const [word, records] of [
      [BODY.soa, [platform.soa(this.zone)]],
      [BODY.ns, platform.apexNs(this.zone, this.#apexNs)],
      [BODY.edgeA, edge.a],
      [BODY.edgeAaaa, edge.aaaa],
      [BODY.edgeHttps, edge.https],
      [BODY.edgeHttps4, edge.https4],
      [BODY.edgeHttps6, edge.https6],
    ] as const) {
      if (records.length === 0) continue;
      places.set(word, sets.length);
      sets.add(records, this.name);
    }
    const entry = writeEntry(this.#memory, {
      flags: zoneFlags(this.zone),
      own: 0,
      key: this.name,
      body: BODY.words,
      sets,
    });
    const body = ENTRY.key / 4 + wordsFor(this.name.length);
    const set = (word: number, value: number) => this.#memory.set(entry, body + word, value);
    for (let word = 0; word < BODY.words; word++) set(word, 0);
    set(BODY.directory, directory);
    set(BODY.cuts, this.#cuts);
    set(BODY.wildcards, this.#wildcards);
    set(BODY.counters, this.#counters);
    for (const [word, place] of places) set(word, 4 * (body + BODY.words) + place);
    return entry;
  }

  /** Gives all memory of the zone back, bit by bit. */
  *release(): Generator<void> {
    for (const { block, entries } of this.#names.blocks()) {
      for (const entry of entries) this.#memory.retire(entry);
      this.#memory.retire(block);
      yield;
    }
    this.#memory.retire(this.#counters);
  }

  /** Puts the sets of the records together. One that cannot be served is told of and left out. */
  #compile(name: string, records: readonly ServedRecord[]): void {
    const { sets, onBadRecord } = this.#parts;
    sets.clear();
    const compiled: SetRecord[] = [];
    for (const record of records) {
      try {
        compiled.push(served(record));
      } catch (cause) {
        onBadRecord(name, record.type, cause);
      }
    }
    // The addresses first: they are asked for most.
    if (compiled.length > 1) compiled.sort((a, b) => a.type - b.type);
    for (let from = 0, to = 1; from < compiled.length; from = to++) {
      const { type } = compiled[from]!;
      while (compiled[to]?.type === type) to++;
      try {
        sets.add(to - from === compiled.length ? compiled : compiled.slice(from, to), this.name);
      } catch (cause) {
        onBadRecord(name, `TYPE${type}`, cause);
      }
    }
  }

  #removeName(key: MapKey): void {
    const gone = this.#names.remove(key);
    this.#count(gone, -1);
    this.#memory.retire(gone);
    // Ancestors that only stood for this name go with it.
    for (let label = 1; label <= this.#cursor.labels - this.#labels; label++) {
      const parentKey = this.#keyOf(label);
      const parent = this.#names.get(parentKey);
      const below = this.#memory.get(parent, ENTRY.own) - 1;
      this.#memory.set(parent, ENTRY.own, below);
      const isNeeded = below > 0 || this.#memory.get(parent, ENTRY.meta) >>> SETS_SHIFT > 0;
      if (isNeeded || label === this.#cursor.labels - this.#labels) return;
      this.#names.remove(parentKey);
      this.#count(parent, -1);
      this.#memory.retire(parent);
    }
  }

  /** A new name counts with its parent, which is made if there is none. */
  #growParents(): void {
    for (let label = 1; label <= this.#cursor.labels - this.#labels; label++) {
      const key = this.#keyOf(label);
      const parent = this.#names.get(key);
      if (parent !== 0) {
        this.#memory.set(parent, ENTRY.own, this.#memory.get(parent, ENTRY.own) + 1);
        return;
      }
      const made = this.#write(label, 0, 1, null);
      this.#names.put(key, made);
      this.#count(made, 1);
    }
  }

  #put(key: MapKey, entry: number): void {
    const before = this.#names.put(key, entry);
    if (before !== 0) this.#memory.retire(before);
  }

  #write(label: number, flags: number, own: number, data: SetBuilder | null): number {
    const { octets, at, labels } = this.#cursor;
    const key = octets.subarray(at[label], at[labels - this.#labels]);
    return writeEntry(this.#memory, { flags, own, key, body: 0, sets: data });
  }

  #count(entry: number, by: number): void {
    if (entry === 0) return;
    this.#size += by;
    const meta = this.#memory.get(entry, ENTRY.meta);
    if ((meta & FLAGS_MASK & NAME.cut) !== 0) this.#cuts += by;
    const key = (meta >>> KEY_SHIFT) & KEY_MASK;
    const bytes = this.#memory.bytes[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) + ENTRY.key;
    if (key >= 2 && bytes[at] === 1 && bytes[at + 1] === 0x2a) this.#wildcards += by;
  }

  /** The key of the cursor's name from this label on, without the zone's name. The next call changes it. */
  #keyOf(label: number): MapKey {
    const { at, labels, hashes } = this.#cursor;
    const key = this.#key;
    key.start = at[label]!;
    key.end = at[labels - this.#labels]!;
    key.hash = hashes[label]!;
    return key;
  }
}

/** A part of the cursor's name as a key: one object for all, because millions are asked for at a start. */
class NameKey implements MapKey {
  readonly #memory: SharedMemory;
  readonly #octets: Uint8Array;
  hash = 0;
  start = 0;
  end = 0;

  constructor(memory: SharedMemory, { octets }: NameCursor) {
    this.#memory = memory;
    this.#octets = octets;
  }

  is(entry: number): boolean {
    return hasKey(this.#memory, entry, this.#octets, this.start, this.end);
  }
}
