/** Reads what a node has missed of a zone, as the zone was at one serial. */
import { bytes, type Database, integer, maybe, statement, text } from "#db";
import type { RecordChange } from "./draft.ts";
import { unpackChanges } from "./history.ts";
import type { ChangedNames } from "./listener.ts";
import type { ZoneRecord } from "./record.ts";
import { RECORD, record, ZONE, zone as zoneColumns } from "./schema.ts";
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

/** A zone, with each entry of its history after a serial; one row when there are none. */
const zoneAndHistory = statement({
  sql: `SELECT ${ZONE}, entry, changes FROM zones
        LEFT JOIN (SELECT zone, serial AS entry, changes FROM zone_history) AS history
        ON zone = number AND entry > :after
        WHERE id = :id ORDER BY entry LIMIT ${STRETCH}`,
  takes: { id: text, after: integer },
  gives: { ...zoneColumns, entry: maybe(integer), changes: maybe(bytes) },
});

/**
 * What changed in a zone after a serial, up to now; null when there is no such zone. Other changes may
 * be made while this reads. They are not waited for, since a busy zone never rests: what they did to the
 * records that were read is undone with the history, which has each record as it was before.
 */
export async function readNews(db: Database, id: string, after: number): Promise<ZoneNews | null> {
  const entries = await db.all(zoneAndHistory({ id, after }));
  if (entries.length === 0) return null;
  const { entry: first, changes: _, ...zone } = entries[0]!;
  const touched = new Set<string>();
  if (first !== null)
    for (const { changes } of entries) noteNames(touched, unpackChanges(changes!));
  if (entries.length === STRETCH) {
    for await (const { serial, changes } of entriesAfter(db, id, entries.at(-1)!.entry!)) {
      if (serial > zone.serial) break;
      noteNames(touched, changes);
    }
  }
  const { found, serial } = await readRecords(db, zone, touched);
  const isThen = serial === zone.serial;
  const before = isThen ? new Map<string, null>() : await recordsBefore(db, id, zone.serial);
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

/** What was read, and the serial that the zone had then, where that is known. */
interface Found {
  readonly found: readonly ZoneRecord[];
  readonly serial: number | null;
}

/** Names asked for at a time. Few are the rule; many spare an import thousands of questions. */
const [FEW, MANY] = [2, 256];
/** A scan has a connection to itself, which fewer names are not worth. */
const WORTH_A_SCAN = 1_000;
/** Rows that a scan passes in the time in which one name is looked up. */
const SCANNED_PER_NAME = 5;

/** Where a statement is given the zone's id: its number may have gone to another zone meanwhile. */
const OF_ZONE = "zone = (SELECT number FROM zones WHERE id = :id)";

const recordsAtNames = (count: number) => {
  const places = Array.from({ length: count }, (_, i) => `name${i}`);
  const ask = statement({
    sql: `SELECT ${RECORD}, (SELECT serial FROM zones WHERE id = :id) FROM records
          WHERE ${OF_ZONE} AND name IN (${places.map((place) => `:${place}`).join(", ")})`,
    takes: { id: text, ...Object.fromEntries(places.map((place) => [place, text])) },
    gives: { ...record, serial: integer },
  });
  // Places that are left over ask for a name once more.
  return (id: string, names: readonly string[]) =>
    ask({ id, ...Object.fromEntries(places.map((place, i) => [place, names[i] ?? names[0]!])) });
};
const recordsAtFew = recordsAtNames(FEW);
const recordsAtMany = recordsAtNames(MANY);

async function readRecords(
  db: Database,
  { id, serial, records }: Zone,
  touched: ReadonlySet<string>,
): Promise<Found> {
  if (touched.size === 0) return { found: [], serial };
  if (touched.size > WORTH_A_SCAN && touched.size * SCANNED_PER_NAME > records) {
    return { found: await scanRecords(db, id, touched), serial: null };
  }
  const names = [...touched];
  const found: ZoneRecord[] = [];
  const serials = new Set<number | null>();
  for (let from = 0; from < names.length; from += MANY) {
    const some = names.slice(from, from + MANY);
    const there = await db.all((some.length <= FEW ? recordsAtFew : recordsAtMany)(id, some));
    serials.add(there[0]?.serial ?? null);
    for (const { serial: _, ...one } of there) found.push(one);
  }
  return { found, serial: serials.size === 1 ? [...serials][0]! : null };
}

const everyRow = statement({
  sql: `SELECT ${RECORD} FROM records WHERE ${OF_ZONE}`,
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
