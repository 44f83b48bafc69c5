/** Hostnames that are a script's own, in all zones of an account. */
import { z } from "zod";
import type { DomainFilter } from "#scripts";
import { endpoint } from "../endpoint.ts";
import { zoneFinder } from "../script-routes/zone-of.ts";
import { removeDomainRecords, setDomainRecord } from "./dns.ts";
import { showDomain } from "./shape.ts";

/** wrangler looks under the second. */
const paths = [
  "/accounts/:account_id/workers/domains",
  "/accounts/:account_id/workers/domains/records",
] as const;

const filter = z.object({
  zone_id: z.string().optional(),
  zone_name: z.string().optional(),
  hostname: z.string().optional(),
  service: z.string().optional(),
  environment: z.string().optional(),
});

export const listDomains = paths.map((path) =>
  endpoint({
    method: "GET",
    path,
    summary: "List the domains of scripts",
    permission: "scripts.read",
    query: filter,
    handle: async ({ params, query }, { routes, zones }) => {
      const all = await zones.list([params.account_id]);
      const { zone_id, zone_name, hostname, service, environment } = query;
      const named = zone_name !== undefined && all.find(({ name }) => name === zone_name)?.id;
      const wanted: DomainFilter = {
        ...(zone_id !== undefined && { zoneId: zone_id }),
        ...(named !== false && { zoneId: named ?? "" }), // A zone that is not there has none.
        ...(hostname !== undefined && { hostname: hostname.toLowerCase() }),
        ...(service !== undefined && { service }),
        ...(environment !== undefined && { environment }),
      };
      const found = await routes.domains(params.account_id, wanted);
      return found.map((domain) => showDomain(domain, all));
    },
  }),
);

export const getDomain = paths.map((path) =>
  endpoint({
    method: "GET",
    path: `${path}/:domain_id`,
    summary: "Show a script's domain",
    permission: "scripts.read",
    handle: async ({ params }, { routes, zones }) => {
      const domain = await routes.domain(params.account_id, params.domain_id);
      return showDomain(domain, await zones.list([params.account_id]));
    },
  }),
);

export const putDomain = endpoint({
  method: "PUT",
  path: paths[0],
  summary: "Give a hostname to a script",
  permission: "scripts.edit",
  body: z.object({
    hostname: z.string(),
    service: z.string(),
    zone_id: z.string().nullish(),
    zone_name: z.string().nullish(),
    environment: z.string().nullish(),
    override_existing_dns_record: z.boolean().default(false),
  }),
  handle: async ({ params, body, identity }, parts) => {
    const { service, override_existing_dns_record: overrides } = body;
    const hostname = body.hostname.toLowerCase();
    const find = await zoneFinder(params.account_id, identity, parts);
    const zone = await find(hostname, body);
    const setRecord = (dryRun: boolean) =>
      setDomainRecord(parts, zone, hostname, identity, { overrides, dryRun });
    await setRecord(true);
    const input = { hostname, zoneId: zone.id, service };
    const domain = await parts.routes.putDomain(params.account_id, input);
    await setRecord(false);
    return showDomain(domain, [zone]);
  },
});

export const removeDomain = endpoint({
  method: "DELETE",
  path: `${paths[0]}/:domain_id`,
  summary: "Take a hostname from its script",
  permission: "scripts.edit",
  handle: async ({ params, identity }, parts) => {
    const domain = await parts.routes.domain(params.account_id, params.domain_id);
    const find = await zoneFinder(params.account_id, identity, parts);
    await find(domain.hostname, { zone_id: domain.zoneId });
    await parts.routes.removeDomain(params.account_id, params.domain_id);
    await removeDomainRecords(parts, [domain], identity);
    return { id: params.domain_id };
  },
});
