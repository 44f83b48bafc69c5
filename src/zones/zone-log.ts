/**
 * The log of changes by which nodes that share a database follow each other. Where one process has the
 * database to itself nothing is written here.
 */
import {
  type Bound,
  bytes,
  type Database,
  integer,
  type Migration,
  scanStatement,
  statement,
  text,
  time,
} from "#db";
import { randomId } from "#kit/random.ts";

export const zoneLogMigration: Migration = {
  part: "zones",
  number: 2,
  sql: ({ text, integer }) => [
    // `at` is the database's time when the change was about to be committed.
    `CREATE TABLE IF NOT EXISTS zone_log (
      id ${text} PRIMARY KEY,
      zone_id ${text} NOT NULL,
      serial ${integer} NOT NULL,
      at ${integer} NOT NULL
    )`,
    `CREATE INDEX IF NOT EXISTS zone_log_by_time ON zone_log (at)`,
  ],
};

/** What the log has as the serial of a zone that was removed: more than any. */
export const REMOVED = Number.MAX_SAFE_INTEGER;

/** Nodes that were away for longer look at every zone anyway. */
const KEPT_MS = 3_600_000;

/** One clock for all nodes; in words that PostgreSQL, CockroachDB and YugabyteDB share. */
const NOW = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

const addToLog = statement({
  sql: `INSERT INTO zone_log (id, zone_id, serial, at) VALUES (:id, :zoneId, :serial, ${NOW})`,
  takes: { id: text, zoneId: text, serial: integer },
});
const forgetLog = statement({
  sql: `DELETE FROM zone_log WHERE at < ${NOW} - :kept`,
  takes: { kept: integer },
});
export const newestInLog = statement({
  sql: "SELECT COALESCE(MAX(at), 0) FROM zone_log",
  gives: { at: time },
});
/** The zones that changed since a time, each with its last serial. */
export const changedSince = statement({
  sql: "SELECT zone_id, MAX(serial), MAX(at) FROM zone_log WHERE at > :since GROUP BY zone_id",
  takes: { since: time },
  gives: { id: text, serial: integer, at: time },
});
/** Where every zone stands. */
export const zoneSerials = scanStatement<readonly [id: string, serial: number]>()({
  sql: "SELECT id, serial FROM zones",
});
/** By the zone's id: its number may have gone to another zone meanwhile. */
export const historyAfter = statement({
  sql: `SELECT serial, changes FROM zone_history
        WHERE zone = (SELECT number FROM zones WHERE id = :id) AND serial > :after
        ORDER BY serial LIMIT :limit`,
  takes: { id: text, after: integer, limit: integer },
  gives: { serial: integer, changes: bytes },
});

/** What goes into the write of a change, at its end, so that other nodes find it. */
export function logSteps({ shared }: Database, zoneId: string, serial: number): Bound[] {
  return shared ? [addToLog({ id: randomId(), zoneId, serial })] : [];
}

/** Removes what every node has seen. Each node may do it at any time. */
export async function trimLog(db: Database): Promise<void> {
  await db.write(forgetLog({ kept: KEPT_MS }));
}

const TOPIC = "zones";

/** Tells other nodes of a change that is on disk, so that they need not wait for their next look. */
export function signalChange(db: Database, zoneId: string, serial: number): void {
  if (db.shared) db.signal(TOPIC, `${zoneId} ${serial}`);
}

export function onChangeSignal(
  db: Database,
  hear: (zoneId: string, serial: number) => void,
): Disposable {
  return db.onSignal(TOPIC, (message) => {
    const [, id, serial] = /^([0-9a-f]{32}) (\d{1,16})$/.exec(message) ?? [];
    if (id !== undefined) hear(id, Number(serial));
  });
}
