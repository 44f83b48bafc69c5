/**
 * The database: SQLite in the data folder, or PostgreSQL shared by many nodes, behind one typed
 * query layer. Parts declare statements and migrations; the engines run them alike, which the
 * contract in `database.contract.ts` holds.
 */
export { ChangeFeed, changeLogTables } from "./change-feed.ts";
export {
  bytes,
  type Column,
  integer,
  json,
  maybe,
  sharedJson,
  text,
  time,
  word,
} from "./columns.ts";
export {
  type Database,
  DatabaseFault,
  isDatabaseFault,
  type StepResult,
  untilUndisturbed,
} from "./database.ts";
export { acquireLease, releaseLease, whileHeld } from "./lease.ts";
export { type Migration, migrate } from "./migrate.ts";
export { openDatabase } from "./open.ts";
export { type Bound, mustChangeOne, type RowOf, scanStatement, statement } from "./statement.ts";
