/** A lock on a folder for the life of the process. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const LOCK_FILE = "lock";
const SQLITE_BUSY = 5;

/**
 * Throws, with the words given, when another process holds the folder. SQLite's file lock carries it: the system drops
 * it with the process, also after `kill -9`, which a file with a process id in it cannot offer.
 */
export function lockFolder(folder: string, taken: string): Disposable {
  const path = join(folder, LOCK_FILE);
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    db.close();
    const isTaken = (cause as { errcode?: number }).errcode === SQLITE_BUSY;
    throw isTaken
      ? new Error(taken, { cause })
      : new Error(`Cannot lock ${path}: ${(cause as Error).message}`, { cause });
  }
  return { [Symbol.dispose]: () => db.close() };
}
