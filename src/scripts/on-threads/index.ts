/** What threads need that lead requests to scripts; they load nothing else of this part. */
export { processUpstream } from "../runtime/process-upstream.ts";
export { type PlacedRoutes, ZoneRoutes } from "../zone-routes.ts";
