/**
 * HTTP in front of proxied names. `destination.ts` chooses where a request goes and is the one place to
 * add another; `proxied-names.ts` knows the names, `pass-on.ts` carries a request on.
 */
export { cacheMigrations, PurgeLog } from "./cache/purge-log.ts";
export type { ScriptRoutes } from "./destination.ts";
export { edgeDoor, type EdgeOptions } from "./edge-door.ts";
export { requestHeaders } from "./forwarded.ts";
export { observer } from "./observe.ts";
export { OriginNames } from "./origin/origin-names.ts";
export { OriginPool } from "./origin/origin-pool.ts";
export { OriginProxy } from "./origin/origin-proxy.ts";
export { ProxiedNames } from "./proxied-names.ts";
export { type Passage, passOn, upgradeOn } from "./pass-on.ts";
