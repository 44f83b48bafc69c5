/** Keeps the snapshot in step with the zones: loads them at the start, then takes in every change. */
import type { ChangedNames, RecordRow, Zone, ZoneListener } from "#zones";
import { ROOT } from "./snapshot/layout.ts";
import { SharedMemory } from "./snapshot/memory.ts";
import { hasKey } from "./snapshot/name-block.ts";
import { SetBuilder } from "./snapshot/rrset.ts";
import { type PlatformFacts, PlatformSets, type ServedRecord } from "./snapshot/served.ts";
import { type MapKey, SharedMap } from "./snapshot/shared-map.ts";
import { TargetWriter } from "./snapshot/target-writer.ts";
import { ZoneWriter, type ZoneWriterParts } from "./snapshot/zone-writer.ts";

export interface PublisherOptions {
  readonly facts: PlatformFacts;
  readonly readers: ZoneWriterParts["readers"];
  readonly onBadRecord: ZoneWriterParts["onBadRecord"];
  /** There is no room for a change: the zone is served as it was. */
  readonly onFault: (zone: string, cause: unknown) => void;
}

/** What a zone needs before it has names. */
const NEW_ZONE_ROOM = 64 * 1024;

/** More than a row of the largest record, its name's ancestors and its share of pages can need. */
const ROW_ROOM = 24 * 1024;

/** Blocks of a removed zone that are given back in one go. */
const RELEASE_AT_ONCE = 256;

interface Known {
  readonly writer: ZoneWriter;
  entry: number;
}

export class Publisher implements ZoneListener {
  readonly memory = new SharedMemory();
  readonly targets: TargetWriter;
  readonly #options: PublisherOptions;
  readonly #parts: ZoneWriterParts;
  readonly #known = new Map<string, Known>();
  readonly #zones = new SharedMap(this.memory, 0);
  #root = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
    const { memory } = this;
    const platform = new PlatformSets(options.facts);
    this.#parts = { ...options, memory, platform, sets: new SetBuilder() };
    this.targets = new TargetWriter(this.memory, () => this.#publish());
    this.#publish();
  }

  /** Takes in all zones and their records, in the order of zone numbers and names; then publishes them. */
  async load(zones: readonly Zone[], rows: AsyncIterable<readonly RecordRow[]>): Promise<number> {
    const byNumber = new Map(zones.map((zone) => [zone.number, this.#know(zone)]));
    let [number, name, count] = [-1, "", 0];
    let at: ServedRecord[] = [];
    const flush = () => {
      const writer = byNumber.get(number)?.writer;
      // A zone that was made since the zones were read may have the number of one that is gone.
      if (at.length > 0 && writer?.holds(name) === true) writer.setName(name, at);
      at = [];
    };
    for await (const stretch of rows) {
      this.memory.ensure(stretch.length * ROW_ROOM);
      for (const row of stretch) {
        if (row[0] !== number || row[1] !== name) {
          flush();
          number = row[0];
          name = row[1];
        }
        at.push(servedRow(row));
      }
      count += stretch.length;
    }
    flush();
    for (const known of byNumber.values()) this.#putZone(known);
    this.#publish();
    return count;
  }

  changed(zone: Zone, names: ChangedNames): void {
    try {
      const known = this.#know(zone);
      // Asked for before anything is touched: half a change could not be taken back.
      this.memory.ensure(known.writer.roomFor(names));
      if (zone.serial > known.writer.zone.serial) known.writer.zone = zone;
      for (const [name, records] of names) known.writer.setName(name, records);
      this.#putZone(known);
      this.#publish();
    } catch (cause) {
      this.#options.onFault(zone.name, cause);
    }
  }

  removed(zone: Zone): void {
    const known = this.#known.get(zone.id);
    if (known === undefined) return;
    this.#known.delete(zone.id);
    const key = this.#keyOf(known.writer);
    // A namesake may have come before this one went.
    if (this.#zones.get(key) === known.entry) this.#zones.remove(key);
    if (known.entry !== 0) this.memory.retire(known.entry);
    this.#publish();
    this.#release(known.writer.release());
  }

  /** Queries of each zone so far. */
  *queries(): Generator<readonly [zone: Zone, counters: readonly number[]]> {
    for (const { writer } of this.#known.values()) yield [writer.zone, writer.counters];
  }

  get zoneCount(): number {
    return this.#known.size;
  }

  #know(zone: Zone): Known {
    let known = this.#known.get(zone.id);
    if (known === undefined) {
      this.memory.ensure(NEW_ZONE_ROOM);
      known = { writer: new ZoneWriter(this.#parts, zone), entry: 0 };
      this.#known.set(zone.id, known);
    }
    return known;
  }

  #putZone(known: Known): void {
    const entry = known.writer.finish();
    this.#zones.put(this.#keyOf(known.writer), entry);
    if (known.entry !== 0) this.memory.retire(known.entry);
    known.entry = entry;
  }

  #publish(): void {
    const root = this.memory.allocate(ROOT.words);
    this.memory.set(root, ROOT.zones, this.#zones.finish());
    this.memory.set(root, ROOT.targets, this.targets.finish());
    if (this.#root !== 0) this.memory.retire(this.#root);
    this.#root = root;
    this.memory.publish(root);
  }

  /** A large zone's memory is given back in pieces, so that others get their turn. */
  #release(blocks: Generator<void>): void {
    for (let i = 0; i < RELEASE_AT_ONCE; i++) if (blocks.next().done === true) return;
    setImmediate(() => this.#release(blocks));
  }

  #keyOf({ name, hash }: ZoneWriter): MapKey {
    return {
      hash,
      is: (entry) => hasKey(this.memory, entry, name, 0, name.length),
    };
  }
}

/** By place, not by taking the row apart: there are millions at a start. */
function servedRow(row: RecordRow): ServedRecord {
  return {
    type: row[2],
    content: row[3],
    priority: row[4],
    ttl: row[5],
    proxied: row[6] === 1,
    extra: row[7] === null ? null : (JSON.parse(row[7]) as ServedRecord["extra"]),
  };
}
