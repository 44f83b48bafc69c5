/** Brings the schema up to date: numbered steps, forward only, one node at a time. */
import { integer, text } from "./columns.ts";
import { type ColumnTypes, type Database, DatabaseFault, isDatabaseFault } from "./database.ts";
import { acquireLease, type LeaseOptions, releaseLease, whileHeld } from "./lease.ts";
import { rawStatement, statement } from "./statement.ts";

/**
 * A step of one part's schema. Once released it never changes; a later one mends it. Its statements
 * can be repeated: on engines whose DDL is not part of a transaction, a step may be cut half-way.
 */
export interface Migration {
  /** The part that owns the tables; numbers count from 1 within it. */
  readonly part: string;
  readonly number: number;
  readonly sql: (types: ColumnTypes) => readonly string[];
}

export interface MigrateOptions {
  readonly holder: string;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

const LEASE_SECONDS = 60;
const RETRY_MS = 200;
/** A node that waits longer than this for another's migration reports it and stops. */
const PATIENCE_MS = 5 * 60_000;

const ground = ({ text, integer }: ColumnTypes) => [
  `CREATE TABLE IF NOT EXISTS leases (name ${text} PRIMARY KEY, holder ${text} NOT NULL, expires_at ${integer} NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS migrations (part ${text} NOT NULL, number ${integer} NOT NULL, applied_at ${integer} NOT NULL, PRIMARY KEY (part, number))`,
];
const appliedMigrations = statement({
  sql: "SELECT part, number FROM migrations",
  gives: { part: text, number: integer },
});
const recordMigration = statement({
  sql: "INSERT INTO migrations (part, number, applied_at) VALUES (:part, :number, :at)",
  takes: { part: text, number: integer, at: integer },
});

/** Applies what the database lacks and returns how many steps that were. */
export async function migrate(
  db: Database,
  migrations: readonly Migration[],
  options: MigrateOptions,
): Promise<number> {
  await layGround(db, options);
  if ((await missing(db, migrations)).length === 0) return 0;
  const lease = { name: "migrate", holder: options.holder, seconds: LEASE_SECONDS };
  await waitForLease(db, lease, options);
  try {
    const steps = await missing(db, migrations); // Again: the holder before us may have done them.
    for (const { part, number, sql } of steps) {
      await acquireLease(db, lease, options.now());
      await db.write(
        whileHeld(lease, options.now()),
        ...sql(db.types).map(rawStatement),
        recordMigration({ part, number, at: options.now() }),
      );
    }
    return steps.length;
  } finally {
    await releaseLease(db, lease);
  }
}

/** The tables that leases and migrations themselves need. */
async function layGround(db: Database, { sleep }: MigrateOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      for (const sql of ground(db.types)) await db.write(rawStatement(sql));
      return;
    } catch (error) {
      // Two nodes that create a table at the same moment clash in PostgreSQL's own catalogue.
      if (!isDatabaseFault(error, "unique") || attempt === 5) throw error;
      await sleep(RETRY_MS);
    }
  }
}

async function missing(db: Database, migrations: readonly Migration[]): Promise<Migration[]> {
  const applied = await db.all(appliedMigrations({}));
  const known = new Set(migrations.map(({ part, number }) => `${part} ${number}`));
  const newer = applied.find(({ part, number }) => !known.has(`${part} ${number}`));
  if (newer !== undefined) {
    throw new Error(
      `Cannot use this database: a newer Selvedge has changed it (${newer.part} ${newer.number}). Start that version or a later one.`,
    );
  }
  const done = new Set(applied.map(({ part, number }) => `${part} ${number}`));
  return migrations.filter(({ part, number }) => !done.has(`${part} ${number}`));
}

async function waitForLease(
  db: Database,
  lease: LeaseOptions,
  options: MigrateOptions,
): Promise<void> {
  const deadline = options.now() + PATIENCE_MS;
  while (!(await acquireLease(db, lease, options.now()))) {
    if (options.now() > deadline) {
      throw new DatabaseFault("busy", "Another node has been migrating the database for too long");
    }
    await options.sleep(RETRY_MS);
  }
}
