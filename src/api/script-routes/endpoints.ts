/** The routes of a zone: which script answers which addresses. */
import { z } from "zod";
import type { Route } from "#scripts";
import { endpoint } from "../endpoint.ts";

const path = "/zones/:zone_id/workers/routes";

const show = ({ id, pattern, script }: Route) => ({
  id,
  pattern,
  ...(script !== null && { script }),
});

/** Without a script, none answers there. */
const input = z
  .object({ pattern: z.string(), script: z.string().nullish() })
  .transform(({ pattern, script }) => ({ pattern, script: script || null }));

export const listRoutes = endpoint({
  method: "GET",
  path,
  summary: "List the routes of a zone",
  permission: "script-routes.read",
  handle: async ({ zone }, { routes }) => (await routes.list(zone.id)).map(show),
});

export const createRoute = endpoint({
  method: "POST",
  path,
  summary: "Lead addresses of a zone to a script",
  permission: "script-routes.edit",
  body: input,
  handle: async ({ zone, body }, { routes }) => show(await routes.add(zone.id, body)),
});

export const getRoute = endpoint({
  method: "GET",
  path: `${path}/:route_id`,
  summary: "Show a route",
  permission: "script-routes.read",
  handle: async ({ zone, params }, { routes }) => show(await routes.get(zone.id, params.route_id)),
});

export const editRoute = endpoint({
  method: "PUT",
  path: `${path}/:route_id`,
  summary: "Change a route",
  permission: "script-routes.edit",
  body: input,
  handle: async ({ zone, params, body }, { routes }) =>
    show(await routes.edit(zone.id, params.route_id, body)),
});

export const removeRoute = endpoint({
  method: "DELETE",
  path: `${path}/:route_id`,
  summary: "Delete a route",
  permission: "script-routes.edit",
  handle: async ({ zone, params }, { routes }) => {
    await routes.remove(zone.id, params.route_id);
    return { id: params.route_id };
  },
});
