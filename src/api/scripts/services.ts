/** Scripts as the services and workers of the original's other interfaces, for wrangler. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Answer } from "../envelope.ts";
import { pageInfo, showTime } from "../shapes.ts";
import { showBinding } from "./bindings.ts";
import { current, currentIfAny } from "./current.ts";
import { ENVIRONMENT, SCRIPT, SERVICE, WORKER } from "./paths.ts";
import { ENVIRONMENT_NAME, showScript } from "./shape.ts";

export const getService = endpoint({
  method: "GET",
  path: SERVICE,
  summary: "Show a script as a service",
  permission: "scripts.read",
  handle: async ({ params }, { scripts }) => {
    const { script, version } = await currentIfAny(scripts, params);
    const { createdAt, modifiedAt } = script;
    const times = { created_on: showTime(createdAt), modified_on: showTime(modifiedAt) };
    const environment = { environment: ENVIRONMENT_NAME, ...times };
    return {
      id: script.name,
      ...times,
      usage_model: "standard",
      default_environment: { ...environment, script: showScript(script, version) },
      environments: [environment],
    };
  },
});

export const environmentEndpoints = [
  endpoint({
    method: "GET",
    path: ENVIRONMENT,
    summary: "Show a service's environment",
    permission: "scripts.read",
    handle: async ({ params }, { scripts }) => {
      const { script, version } = await currentIfAny(scripts, params);
      return { environment: params.environment, script: showScript(script, version) };
    },
  }),
  endpoint({
    method: "GET",
    path: `${ENVIRONMENT}/bindings`,
    summary: "List a service's bindings",
    permission: "scripts.read",
    handle: async ({ params }, { scripts }) =>
      (await current(scripts, params)).version.bindings.map(showBinding),
  }),
  endpoint({
    method: "GET",
    path: `${ENVIRONMENT}/subdomain`,
    summary: "Show whether a service answers under its account's subdomain",
    permission: "scripts.read",
    handle: async ({ params }, { scripts }) => ({
      enabled: (await scripts.get(params.account_id, params.script_name)).onSubdomain,
    }),
  }),
  endpoint({
    method: "GET",
    path: `${ENVIRONMENT}/routes`,
    summary: "List a service's routes",
    permission: "scripts.read",
    query: z.object({ show_zonename: z.string().optional() }),
    handle: async ({ params }, { routes, zones }) => {
      const found = await routes.ofScript(params.account_id, params.script_name);
      const known = await zones.list([params.account_id]);
      const names = new Map(known.map(({ id, name }) => [id, name]));
      return found.map(({ id, pattern, script, zoneId }) => ({
        id,
        pattern,
        script,
        zone_id: zoneId,
        zone_name: names.get(zoneId),
      }));
    },
  }),
];

export const getWorker = endpoint({
  method: "GET",
  path: WORKER,
  summary: "Show a script as a worker",
  permission: "scripts.read",
  handle: async ({ params }, { scripts, scriptsHost }) => {
    const script = await scripts.get(params.account_id, params.script_name);
    const { id, name, settings, onSubdomain } = script;
    const label = await scripts.subdomain(params.account_id);
    return {
      id,
      name,
      created_on: showTime(script.createdAt),
      updated_on: showTime(script.modifiedAt),
      deployed_on: script.versionId === null ? null : showTime(script.modifiedAt),
      logpush: settings.logpush,
      observability: settings.observability ?? { enabled: false },
      tags: settings.tags,
      tail_consumers: [],
      subdomain: {
        enabled: onSubdomain,
        previews_enabled: false,
        url: `http://${name}.${label}.${scriptsHost}`,
      },
      references: {
        dispatch_namespace_outbounds: [],
        domains: [],
        durable_objects: [],
        queues: [],
        workers: [],
      },
    };
  },
});

/** What wrangler asks before it deletes a script: who needs it is told by the deletion itself. */
export const absentScriptFeatures = [
  endpoint({
    method: "GET",
    path: `${SCRIPT}/references`,
    summary: "What refers to a script: a deletion tells",
    permission: "scripts.read",
    handle: () => ({
      services: { incoming: [], outgoing: [] },
      durable_objects: [],
      dispatch_outbounds: [],
    }),
  }),
  ...[
    "/accounts/:account_id/workers/tails/by-consumer/:script_name",
    "/accounts/:account_id/workers/durable_objects/namespaces",
    "/accounts/:account_id/storage/kv/namespaces",
  ].map((path) =>
    endpoint({
      method: "GET",
      path: path as "/accounts/:account_id",
      summary: "A feature of the original: there are none",
      permission: "scripts.read",
      handle: () => new Answer([], { resultInfo: pageInfo({ page: 1, per_page: 100 }, 0, 0) }),
    }),
  ),
];
