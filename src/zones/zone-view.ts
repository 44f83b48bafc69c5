/** A zone's records as they will be when the changes that are being gathered have been written. */
import type { Database } from "#db";
import type { Draft } from "./draft.ts";
import type { ChangedNames } from "./listener.ts";
import type { ZoneRecord } from "./record.ts";
import * as rows from "./schema.ts";

const NOTHING: readonly ZoneRecord[] = [];

export class ZoneView {
  readonly #db: Database;
  readonly #zone: number;
  /** By name, what has been read. */
  readonly #read = new Map<string, readonly ZoneRecord[]>();
  #isWhole = false;
  /** The changes that are to be written, newest first. */
  readonly #drafts: Draft[] = [];

  constructor(db: Database, zone: number) {
    this.#db = db;
    this.#zone = zone;
  }

  async record(id: string): Promise<ZoneRecord | null> {
    for (const draft of this.#drafts) {
      const change = draft.changeOf(id);
      if (change !== undefined) return change.after;
    }
    return this.#db.first(rows.recordById({ id, zone: this.#zone }));
  }

  async at(name: string): Promise<readonly ZoneRecord[]> {
    for (const draft of this.#drafts) {
      const there = draft.names.get(name);
      if (there !== undefined) return there;
    }
    let there = this.#read.get(name);
    if (there === undefined) {
      if (this.#isWhole) return NOTHING;
      there = await this.#db.all(rows.recordsAtName({ zone: this.#zone, name }));
      this.#read.set(name, there);
    }
    return there;
  }

  /** Reads all names at once, so that none need be asked for. */
  async readAll(): Promise<void> {
    if (this.#isWhole) return;
    const names = new Map<string, ZoneRecord[]>();
    for await (const stretch of everyRecord(this.#db, this.#zone)) {
      for (const record of stretch) {
        const there = names.get(record.name);
        if (there === undefined) names.set(record.name, [record]);
        else there.push(record);
      }
    }
    for (const [name, there] of names) this.#read.set(name, there);
    this.#isWhole = true;
  }

  /** What stands at each of these names. */
  async standing(names: Iterable<string>): Promise<ChangedNames> {
    const standing = new Map<string, readonly ZoneRecord[]>();
    for (const name of names) standing.set(name, await this.at(name));
    return standing;
  }

  /** Takes in a change that is to be written. */
  absorb(draft: Draft): void {
    this.#drafts.unshift(draft);
  }
}

/** Rows read at a time where a whole zone is walked through, so that others get their turn. */
const STRETCH = 1_000;
const FIRST_ID = "0".repeat(32);

/** All records of a zone, in the order of their names. */
export async function* everyRecord(db: Database, zone: number): AsyncGenerator<ZoneRecord[], void> {
  let [afterName, afterId] = ["", FIRST_ID];
  for (;;) {
    const stretch = await db.all(rows.recordsFrom({ zone, afterName, afterId, limit: STRETCH }));
    if (stretch.length > 0) yield stretch;
    if (stretch.length < STRETCH) return;
    ({ name: afterName, id: afterId } = stretch.at(-1)!);
    await new Promise(setImmediate);
  }
}
