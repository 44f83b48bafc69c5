/** Runs a suite on SQLite and on PostgreSQL, each time on a fresh database with the tables that it needs. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite } from "node:test";
import { type Database, migrate, type Migration, openDatabase } from "../../src/db/index.ts";
import { freshPostgresUrl, stopOwnPostgres } from "./postgres.ts";

/** `open` gives another connection to the same database. */
export type DefineOnEngine = (
  db: () => Database,
  open: () => Promise<Database>,
  engine: Database["engine"],
) => void;

export function onBothEngines(
  name: string,
  migrations: readonly Migration[],
  define: DefineOnEngine,
): void {
  for (const engine of ["sqlite", "postgres"] as const) {
    suite(`${name}, on ${engine}`, () => {
      let folder: string;
      let url: string;
      let db: Database;
      const open = () => openDatabase({ url, dataDir: folder, onError: assert.fail });
      before(async () => {
        folder = await mkdtemp(join(tmpdir(), "selvedge-engine-"));
        url = engine === "sqlite" ? "sqlite:" : await freshPostgresUrl();
        db = await open();
        await migrate(db, migrations, { holder: "test", now: Date.now, sleep: async () => {} });
      });
      after(async () => {
        await db[Symbol.asyncDispose]();
        await rm(folder, { recursive: true });
      });
      define(() => db, open, engine);
    });
  }
  after(stopOwnPostgres);
}
