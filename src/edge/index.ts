/**
 * HTTP in front of proxied names, on threads that share the listeners (`threads/`). `edge-door.ts` sees a request
 * there and back: `destination.ts` chooses where it goes and is the one place to add another, by what the main
 * thread tells of its name (`facts/`); `origin/` and `cache/` answer what no script does; `pass-on.ts` carries a
 * request on.
 */
export { CacheCounts } from "./cache/cache-counts.ts";
export { DiskLedger } from "./cache/disk-ledger.ts";
export { DiskStore } from "./cache/disk-store.ts";
export { cacheMigrations, PurgeLog } from "./cache/purge-log.ts";
export { PurgeRules } from "./cache/purge-rules.ts";
export { ScriptCache } from "./cache/script-cache.ts";
export { Shelf } from "./cache/shelf.ts";
export { FactSource, TOPIC } from "./facts/fact-source.ts";
export { requestHeaders } from "./forwarded.ts";
export { ProxiedNames } from "./proxied-names.ts";
export type { Passage } from "./onward.ts";
export { passOn } from "./pass-on.ts";
export { startEdgeThreads } from "./threads/edge-threads.ts";
export { upgradeOn } from "./upgrade-on.ts";
