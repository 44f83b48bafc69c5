/** Changes of zones: made in a draft, gathered in groups, written under the guard of the serial. */
import { type Bound, type Database, mustChangeOne, untilUndisturbed } from "#db";
import type { Ranges } from "#kit/cidr.ts";
import { Groups, type Outcome } from "#kit/groups.ts";
import { Draft, type RecordChange } from "./draft.ts";
import { packChanges } from "./history.ts";
import type { Rules } from "./record-input.ts";
import * as rows from "./schema.ts";
import { nextSerial } from "./serial.ts";
import type { Zone } from "./zone.ts";
import { logSteps } from "./zone-log.ts";
import { ZoneView } from "./zone-view.ts";
import type { Zones } from "./zones.ts";

export interface ZoneChangesOptions {
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
  /** The zone as whoever asks has just read it. */
  readonly seen?: Zone;
}

/** What came of a change. */
export interface Changed<T> {
  readonly zone: Zone;
  readonly result: T;
  readonly changes: readonly RecordChange[];
}

/** Makes the change in a draft and gives its result. */
export type MakeChange<T> = (draft: Draft, rules: Rules) => Promise<T>;

/** A change that waits for its turn. */
interface Waiting {
  readonly options: ChangeOptions;
  readonly make: MakeChange<unknown>;
  /** The zone, where it need not be read: those that wait do so for a change of it. */
  readonly seen: Zone | null;
}

/** A change that has been made, and not written yet. */
interface Made {
  readonly changed: Changed<unknown>;
  /** Null when there is nothing to write. */
  readonly steps: Iterable<Bound> | null;
}

export class ZoneChanges {
  readonly #options: ZoneChangesOptions;
  /** Changes of one zone gather here; those of other nodes are met by the guard. */
  readonly #groups = new Groups<Waiting, unknown>((zoneId, waiting) => {
    let seen = waiting[0]!.seen;
    return untilUndisturbed(async () => {
      const zone = seen ?? (await this.#options.zones.get(zoneId));
      seen = null; // If it was old, the guard has failed.
      return this.#write(zone, waiting);
    });
  });

  constructor(options: ZoneChangesOptions) {
    this.#options = options;
  }

  /**
   * Makes a change. Changes of one zone follow each other; those that wait together are written
   * together, each with its own serial, so that they share the wait for the disk.
   */
  make<T>(zoneId: string, options: ChangeOptions, make: MakeChange<T>): Promise<Changed<T>> {
    const seen = this.#groups.isBusy(zoneId) ? null : (options.seen ?? null);
    return this.#groups.add(zoneId, { options, make, seen }) as Promise<Changed<T>>;
  }

  /** Makes the changes of a group and writes them under the guard of the zone's serial. */
  async #write(before: Zone, waiting: readonly Waiting[]): Promise<Outcome[]> {
    const { db, zones } = this.#options;
    const view = new ZoneView(db, before.number);
    const steps: Iterable<Bound>[] = [];
    const outcomes: Outcome[] = [];
    const touched = new Set<string>();
    let zone = before;
    for (const one of waiting) {
      try {
        const made = await this.#make(view, zone, one);
        if (made.steps !== null) {
          steps.push(made.steps);
          noteNames(touched, made.changed.changes);
        }
        zone = made.changed.zone;
        outcomes.push({ value: made.changed });
      } catch (error) {
        outcomes.push({ error });
      }
    }
    if (steps.length > 0) {
      const { id, serial, records, modifiedAt } = zone;
      const move = rows.moveZone({ id, serial, records, modifiedAt, seen: before.serial });
      const log = logSteps(db, id, serial);
      const written = db.writeAll(inOneGo([[mustChangeOne(move)], ...steps, log]));
      // What to announce is gathered while the disk is at work.
      const [names] = await Promise.all([view.standing(touched), written]);
      await zones.announce(zone, names, before.serial);
    }
    return outcomes;
  }

  async #make(view: ZoneView, zone: Zone, { options, make }: Waiting): Promise<Made> {
    const { platform, nameservers, mostRecords } = this.#options;
    const now = this.#options.now();
    const draft = new Draft(view, zone, mostRecords);
    const result = await make(draft, { zone, now, platform, nameservers });
    const changes = draft.changes();
    if (options.dryRun === true || changes.length === 0) {
      return { changed: { zone, result, changes }, steps: null };
    }
    const serial = nextSerial(zone.serial, now);
    const next = { ...zone, serial, records: zone.records + draft.growth, modifiedAt: now };
    const history = rows.addHistory({
      zone: zone.number,
      serial,
      at: now,
      actor: options.actor,
      changes: await packChanges(changes),
    });
    view.absorb(draft);
    return { changed: { zone: next, result, changes }, steps: inOneGo([draft.steps(), [history]]) };
  }
}

/** Adds the names that changes have touched. */
export function noteNames(touched: Set<string>, changes: readonly RecordChange[]): void {
  for (const { before, after } of changes) {
    if (before !== null) touched.add(before.name);
    if (after !== null) touched.add(after.name);
  }
}

function* inOneGo<T>(lists: readonly Iterable<T>[]): Generator<T, void> {
  for (const list of lists) yield* list;
}
