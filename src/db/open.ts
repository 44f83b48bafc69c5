/** Opens the database that a URL names. */
import { resolve } from "node:path";
import type { Database } from "./database.ts";
import { openSqlite } from "./sqlite.ts";

export interface OpenOptions {
  /** `sqlite:` with a path relative to the data folder, or `postgres://…`. */
  readonly url: string;
  readonly dataDir: string;
  /** Hears of trouble outside any query, such as a lost idle connection. */
  readonly onError: (error: Error) => void;
}

const DEFAULT_FILE = "selvedge.db";

export async function openDatabase({ url, dataDir, onError }: OpenOptions): Promise<Database> {
  if (!url.startsWith("sqlite:")) {
    // Loaded only where it is used: the driver is 8 MiB of memory.
    const { openPostgres } = await import("./postgres.ts");
    return openPostgres(url, onError);
  }
  const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
  return openSqlite(resolve(dataDir, path === "" ? DEFAULT_FILE : path));
}
