/** How both SQLite connections, the reader's and the writer's, are set. */
import type { DatabaseSync } from "node:sqlite";

export function configureSqlite(db: DatabaseSync): void {
  // FULL syncs the log before a commit returns: what was acknowledged survives a power cut.
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA busy_timeout = 5000;
    PRAGMA temp_store = MEMORY;
  `);
}
