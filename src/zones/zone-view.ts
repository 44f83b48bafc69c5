/** A zone's records as they will be when the changes that are being gathered have been written. */
import type { Database } from "#db";
import type { Draft } from "./draft.ts";
import type { ChangedNames } from "./listener.ts";
import type { ZoneRecord } from "./record.ts";
import * as rows from "./schema.ts";

export class ZoneView {
  readonly #db: Database;
  readonly #zone: number;
  readonly #names = new Map<string, ReadonlyMap<string, ZoneRecord>>();
  readonly #changed = new Map<string, ZoneRecord | null>();

  constructor(db: Database, zone: number) {
    this.#db = db;
    this.#zone = zone;
  }

  async record(id: string): Promise<ZoneRecord | null> {
    const changed = this.#changed.get(id);
    if (changed !== undefined) return changed;
    return this.#db.first(rows.recordById({ id, zone: this.#zone }));
  }

  /** The records at a name, by id. */
  async at(name: string): Promise<ReadonlyMap<string, ZoneRecord>> {
    let there = this.#names.get(name);
    if (there === undefined) {
      const found = await this.#db.all(rows.recordsAtName({ zone: this.#zone, name }));
      there = new Map(found.map((record) => [record.id, record]));
      this.#names.set(name, there);
    }
    return there;
  }

  /** What stands at each of these names. */
  async standing(names: Iterable<string>): Promise<ChangedNames> {
    const standing = new Map<string, readonly ZoneRecord[]>();
    for (const name of names) standing.set(name, [...(await this.at(name)).values()]);
    return standing;
  }

  /** Takes in a change that is to be written. */
  absorb(draft: Draft): void {
    for (const [name, there] of draft.names) this.#names.set(name, there);
    for (const { before, after } of draft.changes())
      this.#changed.set((after ?? before)!.id, after);
  }
}
