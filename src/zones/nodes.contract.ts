/** Nodes on one PostgreSQL within one process, for the tests of how they follow each other. */
import assert from "node:assert/strict";
import { type Database, migrate, openDatabase } from "#db";
import { ranges } from "#kit/cidr.ts";
import { Log } from "#kit/log.ts";
import type { RecordChange } from "./draft.ts";
import { unpackChanges } from "./history.ts";
import type { ChangedNames, ZoneListener } from "./listener.ts";
import type { ZoneRecord } from "./record.ts";
import type { RecordFields } from "./record-input.ts";
import { Records } from "./records.ts";
import { zoneMigrations } from "./schema.ts";
import type { Zone } from "./zone.ts";
import type { FollowOptions } from "./zone-feed.ts";
import { historyAfter } from "./zone-log.ts";
import { Zones } from "./zones.ts";

export const ACCOUNT = "a".repeat(32);
export const by = { actor: "user:test" };

/** Zones belong to accounts, whose tables are another part's. */
const accountsTable = {
  part: "accounts",
  number: 1,
  sql: ({ text }: { text: string }) => [
    `CREATE TABLE accounts (id ${text} PRIMARY KEY)`,
    `INSERT INTO accounts (id) VALUES ('${ACCOUNT}')`,
  ],
};

/** What a zone holds: by name, its records in an order of their own. */
type Held = ReadonlyMap<string, string>;

/** A listener that keeps what it was told, and the zone as it then was, each time. */
class Recorder implements ZoneListener {
  readonly zones = new Map<string, { zone: Zone; names: Map<string, readonly ZoneRecord[]> }>();
  readonly told: { readonly zone: Zone; readonly held: Held }[] = [];
  readonly removals: string[] = [];

  changed(zone: Zone, names: ChangedNames): void {
    assert.ok(!this.removals.includes(zone.id), "news of a zone that was removed");
    const there = this.zones.get(zone.id);
    if (there !== undefined) assert.ok(zone.serial > there.zone.serial, "the serial must rise");
    else {
      const names = [...this.zones.values()].map((one) => one.zone.name);
      assert.ok(!names.includes(zone.name), "two zones have one name");
    }
    const known = there?.names ?? new Map<string, readonly ZoneRecord[]>();
    for (const [name, records] of names) known.set(name, records);
    this.zones.set(zone.id, { zone, names: known });
    this.told.push({ zone, held: heldOf([...known.values()].flat()) });
  }

  removed(zone: Zone): void {
    assert.ok(this.zones.delete(zone.id), "only what is known can be removed");
    this.removals.push(zone.id);
  }

  /** What a listener does by itself when it begins. */
  async load(zone: Zone, records: Records): Promise<void> {
    const names = new Map<string, ZoneRecord[]>();
    for await (const stretch of records.all(zone)) {
      for (const one of stretch) names.set(one.name, [...(names.get(one.name) ?? []), one]);
    }
    this.zones.set(zone.id, { zone, names });
  }

  serialOf({ id }: Zone): number {
    return this.zones.get(id)?.zone.serial ?? 0;
  }

  at(zone: Zone, name: string): string[] {
    return (this.zones.get(zone.id)?.names.get(name) ?? []).map(({ content }) => content).sort();
  }

  heldOf({ id }: Zone): Held {
    return heldOf([...(this.zones.get(id)?.names.values() ?? [])].flat());
  }
}

export interface Node extends AsyncDisposable {
  readonly db: Database;
  readonly zones: Zones;
  readonly records: Records;
  readonly recorder: Recorder;
  /** The lines of its log. */
  readonly lines: string[];
}

export interface NodeOptions extends Partial<FollowOptions> {
  readonly url: string;
  readonly now?: () => number;
  /** Puts something between the node and its database. */
  readonly through?: (db: Database) => Database;
  /** Is done when the node has read all zones and before it follows others. */
  readonly meanwhile?: () => Promise<void>;
}

export async function startNode(options: NodeOptions): Promise<Node> {
  const { url, now = Date.now, through = (db) => db } = options;
  await using started = new AsyncDisposableStack();
  const opened = await openDatabase({ url, dataDir: ".", onError: () => {} });
  const db = through(started.use(opened));
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  await migrate(db, [accountsTable, ...zoneMigrations], { holder: `${Math.random()}`, now, sleep });
  const zones = new Zones(db, now);
  const records = new Records({
    db,
    zones,
    now,
    mostRecords: 200_000,
    platform: ranges([]),
    nameservers: [],
  });
  const lines: string[] = [];
  const log = new Log({ format: "json", level: "info", now, write: (some) => lines.push(some) });
  const recorder = new Recorder();
  for (const zone of await zones.follow(recorder)) await recorder.load(zone, records);
  await options.meanwhile?.();
  started.use(await zones.followOthers({ log, ...options }));
  const all = started.move();
  return { db, zones, records, recorder, lines, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The database without signals, as an engine that has none. */
export function deaf(db: Database): Database {
  return intercepted(db, {
    signal: () => {},
    onSignal: () => ({ [Symbol.dispose]: () => {} }),
  });
}

/** The database with some of its methods replaced. */
export function intercepted(db: Database, methods: Partial<Database>): Database {
  return new Proxy(db, {
    get(target, key) {
      if (key in methods) return methods[key as keyof Database];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export const record = (type: string, name: string, content: string): RecordFields => ({
  type,
  name,
  input: { content },
});

/** What the database has of a zone. */
export async function heldBy({ records }: Node, zone: Zone): Promise<Held> {
  const all: ZoneRecord[] = [];
  for await (const stretch of records.all(zone)) all.push(...stretch);
  return heldOf(all);
}

/** Fails unless the zone was, each time when the listener was told of it, exactly as the history has it. */
export async function checkTold({ db, recorder }: Node, zone: Zone): Promise<void> {
  const history = await db.all(historyAfter({ id: zone.id, after: 0, limit: 1_000_000 }));
  const states: { serial: number; held: Held }[] = [{ serial: 0, held: new Map() }];
  const present = new Map<string, ZoneRecord>();
  for (const { serial, changes } of history) {
    for (const change of unpackChanges(changes)) apply(present, change);
    states.push({ serial, held: heldOf([...present.values()]) });
  }
  for (const told of recorder.told.filter((one) => one.zone.id === zone.id)) {
    const state = states.findLast(({ serial }) => serial <= told.zone.serial)!;
    assert.deepEqual(told.held, state.held, `as told at serial ${told.zone.serial}`);
  }
}

function apply(present: Map<string, ZoneRecord>, { before, after }: RecordChange): void {
  if (after === null) present.delete(before!.id);
  else present.set(after.id, after);
}

function heldOf(records: readonly ZoneRecord[]): Held {
  const names = Map.groupBy(records, ({ name }) => name);
  const line = ({ id, type, content, ttl }: ZoneRecord) => [id, type, content, ttl].join(" ");
  const held = [...names].map(([name, some]): [string, string] => [
    name,
    some.map(line).sort().join("\n"),
  ]);
  return new Map(held.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
