/** Opens the database that a URL names. */
import { resolve } from "node:path";
import type { MessagePort } from "node:worker_threads";
import type { Database } from "./database.ts";
import { openSqlite } from "./sqlite.ts";

export interface OpenOptions {
  /** `sqlite:` with a path relative to the data folder, or `postgres://…`. */
  readonly url: string;
  readonly dataDir: string;
  /** Hears of trouble outside any query, such as a lost idle connection. */
  readonly onError: (error: Error) => void;
  /** For another thread beside the one that has the database open: what that has given for it. */
  readonly port?: MessagePort | null;
  /** The most to have to a server. */
  readonly connections?: number;
}

const DEFAULT_FILE = "selvedge.db";

export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { url, dataDir, onError, port, connections } = options;
  if (!url.startsWith("sqlite:")) {
    // Loaded only where it is used: the driver is 8 MiB of memory.
    const { openPostgres } = await import("./postgres.ts");
    return openPostgres(url, onError, connections);
  }
  const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
  return openSqlite(resolve(dataDir, path === "" ? DEFAULT_FILE : path), port ?? undefined);
}
