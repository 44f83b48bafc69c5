/** The log by which nodes that share a database follow each other in scripts, routes and schedules. */
import { ChangeFeed, type Database } from "#db";

/** What an entry of the log is about; its `ref` is the id of the script, the zone or the account. */
type Topic = "script" | "subdomain" | "routes" | "domains" | "schedules";

export type ScriptFeed = ChangeFeed<Topic>;

export function openScriptFeed(db: Database): Promise<ScriptFeed> {
  return ChangeFeed.open(db, "script");
}
