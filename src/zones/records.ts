/** The records of zones: every change is one serial, all or nothing, and kept in the history. */
import { type Bound, type Database, mustChangeOne, untilUndisturbed } from "#db";
import type { Ranges } from "#kit/cidr.ts";
import { randomId } from "#kit/random.ts";
import { Groups, type Outcome } from "#kit/groups.ts";
import { byNeed } from "./coexistence.ts";
import { Draft, type RecordChange } from "./draft.ts";
import { ZoneFault } from "./fault.ts";
import { type HistoryEntry, packChanges, reversed, unpackChanges } from "./history.ts";
import { MAX_BATCH } from "./limits.ts";
import type { ZoneRecord } from "./record.ts";
import { changedRecord, newRecord, type RecordFields, type Rules } from "./record-input.ts";
import * as rows from "./schema.ts";
import { nextSerial } from "./serial.ts";
import type { Zone } from "./zone.ts";
import { ZoneView } from "./zone-view.ts";
import type { Zones } from "./zones.ts";

export interface RecordsOptions {
  readonly db: Database;
  readonly zones: Zones;
  readonly now: () => number;
  readonly mostRecords: number;
  readonly platform: Ranges;
  readonly nameservers: readonly string[];
}

/** How a change is made: by whom, and whether for good. */
export interface ChangeOptions {
  /** Who makes it, for the history. */
  readonly actor: string;
  /** Checks everything and writes nothing. */
  readonly dryRun?: boolean;
}

/** What came of a change. */
export interface Changed<T> {
  readonly zone: Zone;
  readonly result: T;
  readonly changes: readonly RecordChange[];
}

type MakeChange<T> = (draft: Draft, rules: Rules) => Promise<T>;

/** A change that waits for its turn. */
interface Waiting {
  readonly options: ChangeOptions;
  readonly make: MakeChange<unknown>;
}

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

/** Rows read at a time where a whole zone is walked through, so that others get their turn. */
const STRETCH = 1_000;
const FIRST_ID = "0".repeat(32);

export class Records {
  readonly #options: RecordsOptions;
  /** Changes of one zone gather here; those of other nodes are met by the guard. */
  readonly #groups = new Groups<Waiting, unknown>((zoneId, waiting) =>
    untilUndisturbed(() => this.#write(zoneId, waiting)),
  );

  constructor(options: RecordsOptions) {
    this.#options = options;
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
  async *all(zone: Zone): AsyncGenerator<ZoneRecord[]> {
    let [afterName, afterId] = ["", FIRST_ID];
    for (;;) {
      const query = rows.recordsFrom({ zone: zone.number, afterName, afterId, limit: STRETCH });
      const stretch = await this.#options.db.all(query);
      if (stretch.length > 0) yield stretch;
      if (stretch.length < STRETCH) return;
      ({ name: afterName, id: afterId } = stretch.at(-1)!);
      await new Promise(setImmediate);
    }
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

  /**
   * Makes a change. Changes of one zone follow each other; those that wait together are written
   * together, each with its own serial, so that they share the wait for the disk.
   */
  change<T>(zoneId: string, options: ChangeOptions, make: MakeChange<T>): Promise<Changed<T>> {
    return this.#groups.add(zoneId, { options, make }) as Promise<Changed<T>>;
  }

  /** Makes the changes of a group and writes them under the guard of the zone's serial. */
  async #write(zoneId: string, waiting: readonly Waiting[]): Promise<Outcome[]> {
    const { db, zones } = this.#options;
    const before = await zones.get(zoneId);
    const view = new ZoneView(db, before.number);
    const steps: Bound[] = [];
    const outcomes: Outcome[] = [];
    let zone = before;
    for (const one of waiting) {
      try {
        const made = await this.#make(view, zone, one);
        outcomes.push({ value: made });
        steps.push(...made.steps);
        zone = made.zone;
      } catch (error) {
        outcomes.push({ error });
      }
    }
    if (steps.length > 0) {
      const { id, serial, records, modifiedAt } = zone;
      const move = rows.moveZone({ id, serial, records, modifiedAt, seen: before.serial });
      await db.write(mustChangeOne(move), ...steps);
    }
    return outcomes;
  }

  async #make(
    view: ZoneView,
    zone: Zone,
    { options, make }: Waiting,
  ): Promise<Changed<unknown> & { steps: Bound[] }> {
    const { platform, nameservers, mostRecords } = this.#options;
    const now = this.#options.now();
    const draft = new Draft(view, zone, mostRecords);
    const result = await make(draft, { zone, now, platform, nameservers });
    const changes = draft.changes();
    if (options.dryRun === true || changes.length === 0)
      return { zone, result, changes, steps: [] };
    view.absorb(draft);
    const serial = nextSerial(zone.serial, now);
    const next = { ...zone, serial, records: zone.records + draft.growth, modifiedAt: now };
    const history = rows.addHistory({
      zone: zone.number,
      serial,
      at: now,
      actor: options.actor,
      changes: packChanges(changes),
    });
    return { zone: next, result, changes, steps: [...draft.steps(), history] };
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
