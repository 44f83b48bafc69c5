/**
 * HTTP in front of proxied names. `destination.ts` chooses where a request goes and is the one place to
 * add another; `proxied-names.ts` knows the names, `pass-on.ts` carries a request on.
 */
export { Cache } from "./cache/cache.ts";
export { DiskLedger } from "./cache/disk-ledger.ts";
export { DiskStore } from "./cache/disk-store.ts";
export { cacheMigrations, PurgeLog } from "./cache/purge-log.ts";
export { CachedOrigin } from "./cached-origin.ts";
export type { ScriptRoutes } from "./destination.ts";
export { edgeDoor, type EdgeOptions } from "./edge-door.ts";
export { requestHeaders } from "./forwarded.ts";
export { observer } from "./observe.ts";
export { OriginNames } from "./origin/origin-names.ts";
export { OriginPool } from "./origin/origin-pool.ts";
export { OriginProxy } from "./origin/origin-proxy.ts";
export { ProxiedNames } from "./proxied-names.ts";
export type { Passage } from "./onward.ts";
export { passOn } from "./pass-on.ts";
export { upgradeOn } from "./upgrade-on.ts";
