/** A change of a zone while it is being made: what it reads, and what it will write. */
import type { Bound } from "#db";
import { checkCoexistence, checkRemoval } from "./coexistence.ts";
import { ZoneFault } from "./fault.ts";
import { MAX_CNAME_CHAIN } from "./limits.ts";
import type { ZoneRecord } from "./record.ts";
import * as rows from "./schema.ts";
import type { Zone } from "./zone.ts";
import type { ZoneView } from "./zone-view.ts";

/** One record's change: null before is new, null after is gone. */
export interface RecordChange {
  readonly before: ZoneRecord | null;
  readonly after: ZoneRecord | null;
}

export class Draft {
  readonly zone: Zone;
  readonly #view: ZoneView;
  readonly #mostRecords: number;
  /** By name: the records there, as this change leaves them. */
  readonly #names = new Map<string, readonly ZoneRecord[]>();
  readonly #changes = new Map<string, RecordChange>();
  #grown = 0;

  constructor(view: ZoneView, zone: Zone, mostRecords: number) {
    this.#view = view;
    this.zone = zone;
    this.#mostRecords = mostRecords;
  }

  /** The record as this change has it so far. */
  async record(id: string): Promise<ZoneRecord> {
    const changed = this.#changes.get(id);
    const record = changed === undefined ? await this.#view.record(id) : changed.after;
    if (record === null) throw new ZoneFault("no-such-record", "Record does not exist.");
    return record;
  }

  async recordsAt(name: string): Promise<readonly ZoneRecord[]> {
    return this.#names.get(name) ?? this.#view.at(name);
  }

  /** Called before so many names are looked at: a zone that has no more records is read whole. */
  async expect(names: number): Promise<void> {
    if (this.zone.records <= names) await this.#view.readAll();
  }

  async add(record: ZoneRecord): Promise<void> {
    if (this.zone.records + this.#grown >= this.#mostRecords) {
      throw new ZoneFault("too-many-records", "Record quota exceeded.");
    }
    const there = await this.recordsAt(record.name);
    checkCoexistence(record, there, record.name === this.zone.name);
    if (record.type === "CNAME") await this.#checkChain(record);
    this.#names.set(record.name, [...there, record]);
    this.#grown++;
    this.#note(null, record);
  }

  async replace(before: ZoneRecord, after: ZoneRecord): Promise<void> {
    this.#names.set(before.name, await this.#without(before));
    const there = await this.recordsAt(after.name);
    checkCoexistence(after, there, after.name === this.zone.name);
    if (after.type === "CNAME") await this.#checkChain(after);
    this.#names.set(after.name, [...there, after]);
    checkRemoval(before, await this.recordsAt(before.name));
    this.#note(before, after);
  }

  async remove(record: ZoneRecord): Promise<void> {
    const left = await this.#without(record);
    checkRemoval(record, left);
    this.#names.set(record.name, left);
    this.#grown--;
    this.#note(record, null);
  }

  /** What it has done to a record so far, if anything. */
  changeOf(id: string): RecordChange | undefined {
    return this.#changes.get(id);
  }

  /** What differs from the zone as it was; what was undone within the change is left out. */
  changes(): RecordChange[] {
    const all = [...this.#changes.values()];
    return all.filter(({ before, after }) => before !== null || after !== null);
  }

  /** How many records the change adds, or takes away. */
  get growth(): number {
    return this.#grown;
  }

  /** By name: what stands at each name that the change has touched. */
  get names(): ReadonlyMap<string, readonly ZoneRecord[]> {
    return this.#names;
  }

  /** What to write, made as it is taken: an import has a hundred thousand. */
  *steps(): Generator<Bound, void> {
    for (const { before, after } of this.#changes.values()) {
      if (after !== null) yield rows.putRecord(after);
      else if (before !== null) yield rows.removeRecord({ id: before.id });
    }
  }

  /** Throws when a CNAME leads back to itself, over others of the zone. */
  async #checkChain({ name, content }: ZoneRecord): Promise<void> {
    const chain = [name];
    for (let target = content; chain.length <= MAX_CNAME_CHAIN;) {
      chain.push(target);
      if (target === name) {
        const message = `A CNAME cannot lead back to itself: ${chain.join(" → ")}`;
        throw new ZoneFault("own-target", message, "/content");
      }
      if (target !== this.zone.name && !target.endsWith(`.${this.zone.name}`)) return;
      const next = (await this.recordsAt(target)).find((one) => one.type === "CNAME");
      if (next === undefined) return;
      target = next.content;
    }
  }

  /** The others at the record's name. */
  async #without({ id, name }: ZoneRecord): Promise<ZoneRecord[]> {
    return (await this.recordsAt(name)).filter((one) => one.id !== id);
  }

  #note(before: ZoneRecord | null, after: ZoneRecord | null): void {
    const id = (after ?? before)!.id;
    const earlier = this.#changes.get(id);
    this.#changes.set(id, { before: earlier === undefined ? before : earlier.before, after });
  }
}
