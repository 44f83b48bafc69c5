/**
 * HTTP in front of proxied names. `destination.ts` chooses where a request goes and is the one place to
 * add another; `proxied-names.ts` knows the names, `script-proxy.ts` carries a request to a script.
 */
export type { ScriptRoutes } from "./destination.ts";
export { edgeDoor } from "./edge-door.ts";
export { requestHeaders } from "./forwarded.ts";
export { ProxiedNames } from "./proxied-names.ts";
export { type Passage, passToScript, upgradeToScript } from "./script-proxy.ts";
