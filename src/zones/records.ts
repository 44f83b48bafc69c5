/** The records of zones: every change is one serial, all or nothing, and kept in the history. */
import { randomId } from "#kit/random.ts";
import { byNeed } from "./coexistence.ts";
import type { Draft } from "./draft.ts";
import { ZoneFault } from "./fault.ts";
import { type HistoryEntry, reversed, unpackChanges } from "./history.ts";
import { MAX_BATCH } from "./limits.ts";
import type { ZoneRecord } from "./record.ts";
import { changedRecord, newRecord, type RecordFields, type Rules } from "./record-input.ts";
import * as rows from "./schema.ts";
import { type Shadow, shadowsOf } from "./shadow.ts";
import type { Zone } from "./zone.ts";
import {
  type Changed,
  type ChangeOptions,
  type MakeChange,
  ZoneChanges,
  type ZoneChangesOptions,
} from "./zone-changes.ts";
import { everyRecord } from "./zone-view.ts";

export interface Batch {
  readonly deletes: readonly string[];
  readonly patches: readonly (RecordFields & { readonly id: string })[];
  readonly puts: readonly (RecordFields & { readonly id: string })[];
  readonly posts: readonly RecordFields[];
}

export interface BatchResult {
  readonly deletes: readonly ZoneRecord[];
  readonly patches: readonly ZoneRecord[];
  readonly puts: readonly ZoneRecord[];
  readonly posts: readonly ZoneRecord[];
}

/** Entries of the history read at a time. */
const STRETCH = 1_000;

export class Records {
  readonly #options: ZoneChangesOptions;
  readonly #changes: ZoneChanges;

  constructor(options: ZoneChangesOptions) {
    this.#options = options;
    this.#changes = new ZoneChanges(options);
  }

  /** The most records that a zone may have. */
  get quota(): number {
    return this.#options.mostRecords;
  }

  async get(zone: Zone, id: string): Promise<ZoneRecord> {
    const record = await this.#options.db.first(rows.recordById({ id, zone: zone.number }));
    if (record === null) throw new ZoneFault("no-such-record", "Record does not exist.");
    return record;
  }

  at(zone: Zone, name: string): Promise<ZoneRecord[]> {
    return this.#options.db.all(rows.recordsAtName({ zone: zone.number, name }));
  }

  /** A page of the whole zone, in an order that needs no sorting. */
  page(
    zone: Zone,
    order: keyof typeof rows.recordPages,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<ZoneRecord[]> {
    return this.#options.db.all(rows.recordPages[order]({ zone: zone.number, limit, offset }));
  }

  /** All records, in the order of their names. */
  all(zone: Zone): AsyncGenerator<ZoneRecord[], void> {
    return everyRecord(this.#options.db, zone.number);
  }

  /**
   * The records of a zone, or of all zones, as lean rows by zone and name, in stretches. All are of the
   * moment when it begins: what changes meanwhile is not among them.
   */
  rows(zone: Zone | null): AsyncGenerator<rows.RecordRow[], void> {
    const [from, to] = zone === null ? [0, Number.MAX_SAFE_INTEGER] : [zone.number, zone.number];
    return this.#options.db.scan(rows.recordRows({ from, to }));
  }

  /** By id, what the zone's delegations do to these records. */
  shadows(zone: Zone, of: readonly ZoneRecord[]): Promise<Map<string, Shadow>> {
    const { db } = this.#options;
    return shadowsOf(of, {
      apex: zone.name,
      nameservers: async (most) => {
        const found = await db.all(rows.nameserversOf({ zone: zone.number, limit: most + 1 }));
        return found.length > most ? null : found;
      },
      at: (name) => this.at(zone, name),
      names: () => db.scan(rows.countedNames({ zone: zone.number })),
    });
  }

  create(
    zoneId: string,
    fields: RecordFields,
    options: ChangeOptions,
  ): Promise<Changed<ZoneRecord>> {
    return this.change(zoneId, options, (draft, rules) => this.#post(draft, fields, rules));
  }

  /** Sets the record anew: what is not given goes to its default. */
  overwrite(
    zoneId: string,
    id: string,
    fields: RecordFields,
    options: ChangeOptions,
  ): Promise<Changed<ZoneRecord>> {
    return this.change(zoneId, options, (draft, rules) => this.#put(draft, id, fields, rules));
  }

  edit(
    zoneId: string,
    id: string,
    fields: RecordFields,
    options: ChangeOptions,
  ): Promise<Changed<ZoneRecord>> {
    return this.change(zoneId, options, (draft, rules) => this.#patch(draft, id, fields, rules));
  }

  remove(zoneId: string, id: string, options: ChangeOptions): Promise<Changed<ZoneRecord>> {
    return this.change(zoneId, options, (draft) => this.#delete(draft, id));
  }

  /** Deletes, then patches, then puts, then posts, each list in its order; all or nothing. */
  async batch(zoneId: string, batch: Batch, options: ChangeOptions): Promise<Changed<BatchResult>> {
    const { deletes, patches, puts, posts } = batch;
    if (deletes.length + patches.length + puts.length + posts.length > MAX_BATCH) {
      throw new ZoneFault("too-many-changes", `A batch has at most ${MAX_BATCH} operations`);
    }
    return this.change(zoneId, options, async (draft, rules) => ({
      deletes: await inOrder(deletes, (id) => this.#delete(draft, id)),
      patches: await inOrder(patches, (fields) => this.#patch(draft, fields.id, fields, rules)),
      puts: await inOrder(puts, (fields) => this.#put(draft, fields.id, fields, rules)),
      posts: await inOrder(posts, (fields) => this.#post(draft, fields, rules)),
    }));
  }

  /** What the zone's changes were, newest first, below a serial. */
  async history(zone: Zone, below: number, limit: number): Promise<HistoryEntry[]> {
    const found = await this.#options.db.all(
      rows.historyBelow({ zone: zone.number, below, limit }),
    );
    return found.map((entry) => ({ ...entry, changes: unpackChanges(entry.changes) }));
  }

  /** Brings the records back to what they were when the zone had this serial; itself a change. */
  revert(zoneId: string, serial: number, options: ChangeOptions): Promise<Changed<number>> {
    return this.change(zoneId, options, async (draft, rules) => {
      const { serial: now, firstSerial } = draft.zone;
      if (serial > now || serial < firstSerial) {
        const message = `The zone never had the serial ${serial}; it began at ${firstSerial} and is at ${now}`;
        throw new ZoneFault("no-such-serial", message, "/serial");
      }
      const back = reversed(await this.#entriesAfter(draft.zone, serial));
      // All out before any comes in: records may have changed places with each other.
      const out = back.flatMap(({ before }) => (before === null ? [] : [before]));
      for (const record of out.toSorted(byNeed).toReversed()) await draft.remove(record);
      const into = back.flatMap(({ after }) => (after === null ? [] : [after]));
      for (const record of into.toSorted(byNeed)) {
        await draft.add({ ...record, modifiedAt: rules.now });
      }
      return back.length;
    });
  }

  /** Makes a change of any kind; see `ZoneChanges.make`. */
  change<T>(zoneId: string, options: ChangeOptions, make: MakeChange<T>): Promise<Changed<T>> {
    return this.#changes.make(zoneId, options, make);
  }

  async #entriesAfter(zone: Zone, serial: number): Promise<HistoryEntry[]> {
    const entries: HistoryEntry[] = [];
    for (let below = zone.serial + 1; ;) {
      const stretch = await this.history(zone, below, STRETCH);
      const newer = stretch.filter((entry) => entry.serial > serial);
      entries.push(...newer);
      if (newer.length < stretch.length || stretch.length < STRETCH) return entries;
      below = stretch.at(-1)!.serial;
    }
  }

  async #post(draft: Draft, fields: RecordFields, rules: Rules): Promise<ZoneRecord> {
    const record = newRecord(fields, { id: randomId(), createdAt: rules.now }, rules);
    await draft.add(record);
    return record;
  }

  async #put(draft: Draft, id: string, fields: RecordFields, rules: Rules): Promise<ZoneRecord> {
    const before = await draft.record(id);
    const after = newRecord(fields, before, rules);
    await draft.replace(before, after);
    return after;
  }

  async #patch(draft: Draft, id: string, fields: RecordFields, rules: Rules): Promise<ZoneRecord> {
    const before = await draft.record(id);
    const after = changedRecord(before, fields, rules);
    await draft.replace(before, after);
    return after;
  }

  async #delete(draft: Draft, id: string): Promise<ZoneRecord> {
    const record = await draft.record(id);
    await draft.remove(record);
    return record;
  }
}

async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
