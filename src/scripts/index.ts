/**
 * Edge scripts. A script's versions never change (`manifest.ts`: rows that share what is the same); one of them
 * is deployed. A change is checked by starting it, written under the guard of the script's revision and told
 * to the listeners before whoever asked hears of it (`script-changes.ts`). Routes and custom domains lie in
 * memory (`route-table.ts`); nodes on one database follow each other by a log (`script-feed.ts`). The runtime
 * runs each script in a process of its own (`runtime/`).
 */
export type { ScriptLimits } from "./limits.ts";
export type { ScriptListener } from "./listener.ts";
export { parseCron } from "./cron.ts";
export { parseRoutePattern, printRoutePattern, type RoutePattern } from "./route-pattern.ts";
export {
  type DomainFilter,
  type Route,
  type RouteInput,
  Routes,
  type RoutesOptions,
  type ScriptDomain,
} from "./routes.ts";
export { type Schedule, Schedules, type SchedulesOptions } from "./schedules.ts";
export { scriptMigrations } from "./schema.ts";
export { Scripts, type ScriptsOptions } from "./scripts.ts";
export { ScriptFault, type ScriptFaultKind } from "./fault.ts";
export type * from "./model.ts";
export type { PlacedRoutes } from "./zone-routes.ts";
export { RunFolder } from "./runtime/run-folder.ts";
export { ScriptRuntime } from "./runtime/runtime.ts";
export type * from "./runtime/types.ts";
