/** Reads what a node has missed of a zone, as the zone was at one serial. */
import { type Database, statement, text } from "#db";
import type { RecordChange } from "./draft.ts";
import { unpackChanges } from "./history.ts";
import type { ChangedNames } from "./listener.ts";
import type { ZoneRecord } from "./record.ts";
import { RECORD, record, zoneById } from "./schema.ts";
import type { Zone } from "./zone.ts";
import { noteNames } from "./zone-changes.ts";
import { historyAfter } from "./zone-log.ts";

export interface ZoneNews {
  readonly zone: Zone;
  /** Every name that changed since, as it stands at the zone's serial. */
  readonly names: ChangedNames;
}

/** Entries of the history at a time: that of a large import alone has some megabytes. */
const STRETCH = 100;

/** A scan has a connection to itself, which fewer names are not worth. */
const WORTH_A_SCAN = 1_000;
/** Rows that a scan passes in the time in which one name is looked up. */
const SCANNED_PER_NAME = 5;

/**
 * What changed in a zone after a serial, up to now; null when there is no such zone. Other changes may
 * be made while this reads. They are not waited for, since a busy zone never rests: what they did to the
 * records that were read is undone with the history, which has each record as it was before.
 */
export async function readNews(db: Database, id: string, after: number): Promise<ZoneNews | null> {
  const zone = await db.first(zoneById({ id }));
  if (zone === null) return null;
  const touched = new Set<string>();
  for await (const { serial, changes } of entriesAfter(db, id, after)) {
    if (serial > zone.serial) break;
    noteNames(touched, changes);
  }
  const isMost = touched.size > WORTH_A_SCAN && touched.size * SCANNED_PER_NAME > zone.records;
  const found = await (isMost ? scanRecords(db, id, touched) : recordsAt(db, id, [...touched]));
  const before = touched.size === 0 ? new Map() : await recordsBefore(db, id, zone.serial);
  const names = new Map([...touched].map((name): [string, ZoneRecord[]] => [name, []]));
  for (const one of found) if (!before.has(one.id)) names.get(one.name)!.push(one);
  for (const one of before.values()) if (one !== null) names.get(one.name)?.push(one);
  return { zone, names };
}

/** By id, each record that changed after a serial, as it was then; null for one that was not there. */
async function recordsBefore(
  db: Database,
  id: string,
  serial: number,
): Promise<Map<string, ZoneRecord | null>> {
  const records = new Map<string, ZoneRecord | null>();
  for await (const { changes } of entriesAfter(db, id, serial)) {
    for (const { before, after } of changes) {
      const recordId = (before ?? after)!.id;
      if (!records.has(recordId)) records.set(recordId, before);
    }
  }
  return records;
}

/** Oldest first. */
async function* entriesAfter(
  db: Database,
  id: string,
  serial: number,
): AsyncGenerator<{ serial: number; changes: RecordChange[] }, void> {
  for (let after = serial; ;) {
    const stretch = await db.all(historyAfter({ id, after, limit: STRETCH }));
    for (const entry of stretch) {
      yield { serial: entry.serial, changes: unpackChanges(entry.changes) };
    }
    if (stretch.length < STRETCH) return;
    after = stretch.at(-1)!.serial;
  }
}

/** Names asked for at a time. Few are the rule; many spare an import thousands of questions. */
const [FEW, MANY] = [2, 256];

/** By the zone's id: its number may have gone to another zone meanwhile. */
const recordsAtNames = (count: number) => {
  const places = Array.from({ length: count }, (_, i) => `name${i}`);
  const ask = statement({
    sql: `SELECT ${RECORD} FROM records WHERE zone = (SELECT number FROM zones WHERE id = :id)
          AND name IN (${places.map((place) => `:${place}`).join(", ")})`,
    takes: { id: text, ...Object.fromEntries(places.map((place) => [place, text])) },
    gives: record,
  });
  // Places that are left over ask for a name once more.
  return (id: string, names: readonly string[]) =>
    ask({ id, ...Object.fromEntries(places.map((place, i) => [place, names[i] ?? names[0]!])) });
};
const recordsAtFew = recordsAtNames(FEW);
const recordsAtMany = recordsAtNames(MANY);

async function recordsAt(
  db: Database,
  id: string,
  names: readonly string[],
): Promise<ZoneRecord[]> {
  const found: ZoneRecord[] = [];
  for (let from = 0; from < names.length; from += MANY) {
    const some = names.slice(from, from + MANY);
    const ask = some.length <= FEW ? recordsAtFew : recordsAtMany;
    for (const one of await db.all(ask(id, some))) found.push(one);
  }
  return found;
}

const everyRow = statement({
  sql: `SELECT ${RECORD} FROM records WHERE zone = (SELECT number FROM zones WHERE id = :id)`,
  takes: { id: text },
  gives: record,
});
const NAME = Object.keys(record).indexOf("name");

async function scanRecords(
  db: Database,
  id: string,
  names: ReadonlySet<string>,
): Promise<ZoneRecord[]> {
  const found: ZoneRecord[] = [];
  const query = everyRow({ id });
  for await (const stretch of db.scan(query)) {
    for (const row of stretch) if (names.has(row[NAME] as string)) found.push(query.decode(row));
  }
  return found;
}
