/** Keeps the snapshot in step with the zones: loads them at the start, then takes in every change. */
import type { ChangedNames, RecordRow, Zone, ZoneListener } from "#zones";
import { ENTRY, KEY_MASK, KEY_SHIFT, ROOT, SEGMENT_BITS, SEGMENT_MASK } from "./snapshot/layout.ts";
import { SharedMemory } from "./snapshot/memory.ts";
import { type PlatformFacts, PlatformSets, type ServedRecord } from "./snapshot/served.ts";
import { type MapKey, SharedMap } from "./snapshot/shared-map.ts";
import { TargetWriter } from "./snapshot/target-writer.ts";
import { ZoneWriter } from "./snapshot/zone-writer.ts";

export interface PublisherOptions {
  readonly facts: PlatformFacts;
  /** How many readers there will be; each counts a zone's queries in a place of its own. */
  readonly readers: number;
  /** A change could not be taken in: the zone is served as it was. */
  readonly onFault: (zone: string, cause: unknown) => void;
}

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
  readonly #platform: PlatformSets;
  readonly #known = new Map<string, Known>();
  readonly #zones = new SharedMap(this.memory, 0);
  #root = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#platform = new PlatformSets(options.facts);
    this.targets = new TargetWriter(this.memory, () => this.#publish());
    this.#publish();
  }

  /** Takes in all zones and their records, in the order of zone numbers and names; then publishes them. */
  async load(zones: readonly Zone[], rows: AsyncIterable<readonly RecordRow[]>): Promise<number> {
    const byNumber = new Map(zones.map((zone) => [zone.number, this.#know(zone)]));
    let [number, name, count] = [-1, "", 0];
    let at: ServedRecord[] = [];
    const flush = () => {
      if (at.length > 0) byNumber.get(number)?.writer.setName(name, at);
      at = [];
    };
    for await (const stretch of rows) {
      for (const [zone, owner, type, content, priority, ttl, proxied, extra] of stretch) {
        if (zone !== number || owner !== name) {
          flush();
          [number, name] = [zone, owner];
        }
        const settings = extra === null ? null : (JSON.parse(extra) as ServedRecord["extra"]);
        at.push({ type, content, priority, ttl, proxied: proxied === 1, extra: settings });
        count++;
      }
    }
    flush();
    for (const known of byNumber.values()) this.#putZone(known);
    this.#publish();
    return count;
  }

  changed(zone: Zone, names: ChangedNames): void {
    try {
      const known = this.#know(zone);
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
    this.#zones.remove(this.#keyOf(known.writer));
    this.memory.retire(known.entry);
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
      const { readers } = this.#options;
      known = { writer: new ZoneWriter(this.memory, this.#platform, zone, readers), entry: 0 };
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
      is: (entry) => {
        const key = (this.memory.get(entry, ENTRY.meta) >>> KEY_SHIFT) & KEY_MASK;
        const at = (entry & SEGMENT_MASK) + ENTRY.key;
        const bytes = this.memory.bytes[entry >>> SEGMENT_BITS]!;
        return key === name.length && name.every((octet, i) => bytes[at + i] === octet);
      },
    };
  }
}
