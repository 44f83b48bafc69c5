/** What of the edge's cache the threads share, and the cache of scripts, which is on the main thread. */
import { join } from "node:path";
import { CacheCounts, DiskLedger, DiskStore, PurgeRules, ScriptCache, Shelf } from "#edge";
import { listenUnixSocket } from "#http";
import type { Log } from "#kit/log.ts";
import type { StoreGrant } from "#scripts";
import type { Config } from "./config.ts";

const MIB = 1024 ** 2;
/** A body that takes more than a sixteenth of the disk's share would drive out too many others. */
const LARGEST_SHARE = 16;
/** Of what the edge's own responses have in memory, on top of it. */
const SCRIPTS_SHARE = 8;
/** Of a script's responses in memory; others go to disk. */
const MEMORY_SHARE = 16;

export function cacheFolder({ dataDir }: Pick<Config, "dataDir">): string {
  return join(dataDir, "cache");
}

/** The most octets of one body on disk. */
export function largestBody({ cache: { diskMib } }: Pick<Config, "cache">): number {
  return (diskMib * MIB) / LARGEST_SHARE;
}

export function openLedger(config: Config, whole: Log): DiskLedger {
  const { diskMib } = config.cache;
  const onError = warner(whole);
  const folder = cacheFolder(config);
  const ledger = new DiskLedger({ folder, limitOctets: diskMib * MIB, onError });
  // What earlier runs have left counts, and is used, as soon as it is found.
  if (diskMib > 0) void ledger.load().catch(onError);
  return ledger;
}

export interface ScriptCacheParts {
  readonly ledger: DiskLedger;
  readonly grant: (token: string) => StoreGrant | null;
  readonly log: Log;
  readonly now: () => number;
}

export async function listenScriptCache(
  config: Config,
  path: string,
  { ledger, grant, log, now }: ScriptCacheParts,
): Promise<AsyncDisposable> {
  const { memoryMib, diskMib } = config.cache;
  const onError = warner(log);
  const disk = diskMib === 0 ? null : await DiskStore.open(cacheFolder(config), ledger);
  const memoryOctets = (memoryMib * MIB) / SCRIPTS_SHARE;
  // No zone's purge means what a script has kept.
  const [purges, counts] = [new PurgeRules(), new CacheCounts()];
  const memoryObjectOctets = memoryOctets / MEMORY_SHARE;
  const cache = new ScriptCache({
    shelf: new Shelf({ memoryOctets, disk, purges, counts, onError }),
    grant,
    memoryObjectOctets,
    objectOctets: disk === null ? memoryObjectOctets : largestBody(config),
    now,
    onError,
  });
  return listenUnixSocket({
    path,
    handle: cache.handle,
    onError: (cause) => onError(cause as Error),
  });
}

function warner(whole: Log): (cause: Error) => void {
  const log = whole.with({ part: "cache" });
  return (cause) => log.warn("cache", { cause });
}
