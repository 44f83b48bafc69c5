/** A script's domains as wrangler sets them: first what would change, then all at once. */
import { z } from "zod";
import type { Identity } from "#accounts";
import type { ScriptDomain } from "#scripts";
import type { Zone } from "#zones";
import { type ApiParts, endpoint } from "../endpoint.ts";
import { domainTaken } from "../errors.ts";
import { zoneFinder } from "../script-routes/zone-of.ts";
import { SCRIPT } from "../scripts/paths.ts";
import { leadsElsewhere, removeDomainRecords, setDomainRecord } from "./dns.ts";
import { showDomain } from "./shape.ts";

const origin = z.object({
  hostname: z.string().toLowerCase(),
  zone_id: z.string().nullish(),
  zone_name: z.string().nullish(),
});

interface Plan {
  /** The zone of each hostname that is wanted. */
  readonly zones: ReadonlyMap<string, Zone>;
  readonly added: readonly string[];
  /** Hostnames that are there, the script's own or another's. */
  readonly kept: readonly ScriptDomain[];
  readonly removed: readonly ScriptDomain[];
}

async function plan(
  params: { account_id: string; script_name: string },
  origins: readonly z.output<typeof origin>[],
  replaces: boolean,
  identity: Identity,
  parts: ApiParts,
): Promise<Plan> {
  const { account_id, script_name } = params;
  await parts.scripts.get(account_id, script_name);
  const find = await zoneFinder(account_id, identity, parts);
  const zones = new Map<string, Zone>();
  for (const wanted of origins) zones.set(wanted.hostname, await find(wanted.hostname, wanted));
  const all = await parts.routes.domains(account_id);
  const kept = all.filter(({ hostname }) => zones.has(hostname));
  const names = new Set(kept.map(({ hostname }) => hostname));
  return {
    zones,
    added: [...zones.keys()].filter((hostname) => !names.has(hostname)),
    kept,
    removed: all.filter(
      ({ hostname, service }) => replaces && service === script_name && !zones.has(hostname),
    ),
  };
}

export const planScriptDomains = endpoint({
  method: "POST",
  path: `${SCRIPT}/domains/changeset`,
  summary: "Show what setting a script's domains would change",
  permission: "scripts.read",
  query: z.object({ replace_state: z.stringbool().default(false) }),
  body: z.array(origin),
  handle: async ({ params, query, body, identity }, parts) => {
    const { zones, added, kept, removed } = await plan(
      params,
      body,
      query.replace_state,
      identity,
      parts,
    );
    const conflicting: string[] = [];
    for (const hostname of added) {
      const isInTheWay = await leadsElsewhere(parts.records, zones.get(hostname)!, hostname);
      if (isInTheWay) conflicting.push(hostname);
    }
    const show = (domain: ScriptDomain) => showDomain(domain, [...zones.values()]);
    return {
      added: added.map((hostname) => ({ hostname })),
      removed: removed.map(show),
      updated: kept.map((domain) => ({
        ...show(domain),
        modified: domain.service !== params.script_name,
      })),
      conflicting: conflicting.map((hostname) => ({ hostname })),
    };
  },
});

export const setScriptDomains = endpoint({
  method: "PUT",
  path: `${SCRIPT}/domains/records`,
  summary: "Set a script's domains",
  permission: "scripts.edit",
  body: z.object({
    /** Domains of the script that are not named go. */
    override_scope: z.boolean().default(false),
    override_existing_origin: z.boolean().default(false),
    override_existing_dns_record: z.boolean().default(false),
    origins: z.array(origin),
  }),
  handle: async ({ params, body, identity }, parts) => {
    const { account_id, script_name } = params;
    const { zones, kept, removed } = await plan(
      params,
      body.origins,
      body.override_scope,
      identity,
      parts,
    );
    const anothers = kept.find(({ service }) => service !== script_name);
    if (anothers !== undefined && !body.override_existing_origin) throw domainTaken(anothers);
    const overrides = body.override_existing_dns_record;
    for (const [hostname, zone] of zones) {
      await setDomainRecord(parts, zone, hostname, identity, { overrides, dryRun: true });
    }
    const set: object[] = [];
    for (const [hostname, zone] of zones) {
      const input = { hostname, zoneId: zone.id, service: script_name };
      set.push(showDomain(await parts.routes.putDomain(account_id, input), [zone]));
      await setDomainRecord(parts, zone, hostname, identity, { overrides, dryRun: false });
    }
    for (const { id } of removed) await parts.routes.removeDomain(account_id, id);
    await removeDomainRecords(parts, removed, identity);
    return set;
  },
});
