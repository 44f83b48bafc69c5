/**
 * HTTP in front of proxied names. `destination.ts` chooses where a request goes and is the one place to
 * add another; `proxied-names.ts` knows the names, `pass-on.ts` carries a request on.
 */
export { cacheMigrations, PurgeLog } from "./cache/purge-log.ts";
export type { ScriptRoutes } from "./destination.ts";
export { edgeDoor } from "./edge-door.ts";
export { requestHeaders } from "./forwarded.ts";
export { ProxiedNames } from "./proxied-names.ts";
export { type Passage, passOn, upgradeOn } from "./pass-on.ts";
