/** Looks, before anything is uploaded, whether a project's routes, domains and crons can be set, and what stands in their way. */
import { basename } from "node:path";
import type { RoutePattern } from "#scripts";
import { ApiFault } from "../api-fault.ts";
import type { CommandContext } from "../context.ts";
import { CliFault, wrongUsage } from "../fault.ts";
import type { Project, ProjectRoute } from "../project/project.ts";
import type { DnsRecord } from "../records/record.ts";
import type { Zone } from "../zones/zone.ts";
import { domainConflicts, type DomainConflict } from "./domain-conflicts.ts";
import type { ScriptAddress } from "./project-options.ts";
import { proxyAdvice } from "./proxy-advice.ts";

export interface TriggerPlan {
  /** What the domains would replace: only when the user says so. */
  readonly conflicts: readonly DomainConflict[];
  readonly warnings: readonly string[];
}

/** A route or domain of the project with the zone it is in. */
export interface Placed {
  readonly route: ProjectRoute;
  readonly zone: Zone;
}

const NOTHING: TriggerPlan = { conflicts: [], warnings: [] };

/** Throws what the server would refuse, in words that say what to do. */
export async function planTriggers(
  project: Project,
  address: ScriptAddress,
  context: CommandContext,
): Promise<TriggerPlan> {
  const routes = project.routes ?? [];
  if (routes.length === 0 && (project.crons ?? []).length === 0) return NOTHING;
  const rules = await import("#scripts"); // The server's own, for those who have routes.
  checkCrons(project, rules.parseCron);
  const { placed, warnings } = await placedIn(routes, address, context);
  const domains = placed.filter(({ route }) => route.isDomain);
  const patterns = placed
    .filter(({ route }) => !route.isDomain)
    .map(({ route, zone }) => {
      const read = () => rules.parseRoutePattern(route.pattern, zone.name);
      return { zone, pattern: inFile(project, "routes", read) };
    });
  await mustBeFree(patterns, address, context, rules);
  const advice = await proxyAdvice(patterns, domains, context);
  const conflicts = await domainConflicts(domains, address, context);
  return { conflicts, warnings: [...warnings, ...advice] };
}

function checkCrons(project: Project, parse: (cron: string) => unknown): void {
  for (const cron of project.crons ?? []) inFile(project, "triggers.crons", () => parse(cron));
}

/** What is wrong there is a fault of the project file. */
function inFile<T>({ path }: Project, key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw wrongUsage(`${basename(path)}: ${key}: ${(error as Error).message}.`);
  }
}

async function placedIn(
  routes: readonly ProjectRoute[],
  { account }: ScriptAddress,
  { api, usesToken }: CommandContext,
): Promise<{ placed: Placed[]; warnings: string[] }> {
  if (routes.length === 0) return { placed: [], warnings: [] };
  const zones = await api.all<Zone>("/zones", { "account.id": account.split("/").at(-1)! });
  const placed: Placed[] = [];
  const homeless: ProjectRoute[] = [];
  for (const route of routes) {
    const zone = zoneOf(route, zones);
    if (zone === null) homeless.push(route);
    else placed.push({ route, zone });
  }
  const shown = homeless.map(({ pattern }) => pattern).join(", ");
  if (homeless.length === 0) return { placed, warnings: [] };
  // The server finds zones that a token may not read.
  if (usesToken) return { placed, warnings: [`This token sees no zone for ${shown}.`] };
  const commands = new Set(homeless.map((route) => `  selvedge zone create ${zoneNameFor(route)}`));
  throw new CliFault(
    "not-found",
    `There is no zone for ${shown}. Nothing was deployed. Make it with:\n${[...commands].join("\n")}`,
  );
}

/** `https://*.example.com/a/*` is of `example.com`. */
function hostOf({ pattern }: ProjectRoute): string {
  const [host = ""] = pattern.replace(/^https?:\/\//i, "").split("/", 1);
  return host.replace(/^\*\.?/, "").toLowerCase();
}

function zoneOf(route: ProjectRoute, zones: readonly Zone[]): Zone | null {
  if (route.zoneId !== null) return zones.find(({ id }) => id === route.zoneId) ?? null;
  const name = route.zoneName?.toLowerCase();
  if (name !== undefined) return zones.find((zone) => zone.name === name) ?? null;
  const host = hostOf(route);
  return (
    zones
      .filter((zone) => host === zone.name || host.endsWith(`.${zone.name}`))
      .toSorted((a, b) => b.name.length - a.name.length)[0] ?? null
  );
}

/** Most zones have two labels; who has another knows it. */
function zoneNameFor(route: ProjectRoute): string {
  return route.zoneName ?? hostOf(route).split(".").slice(-2).join(".");
}

export interface PlacedPattern {
  readonly zone: Zone;
  readonly pattern: RoutePattern;
}

/** No two scripts can have the same pattern. */
async function mustBeFree(
  patterns: readonly PlacedPattern[],
  { name }: ScriptAddress,
  { api }: CommandContext,
  rules: typeof import("#scripts"),
): Promise<void> {
  for (const [zone, group] of Map.groupBy(patterns, (one) => one.zone)) {
    const wanted = new Set(group.map(({ pattern }) => rules.printRoutePattern(pattern)));
    const there = await orUnseen(
      api.get<{ pattern: string; script?: string }[]>(`/zones/${zone.id}/workers/routes`),
    );
    const taken = there?.find(({ pattern, script }) => {
      const read = rules.parseRoutePattern(pattern, zone.name);
      return script !== name && wanted.has(rules.printRoutePattern(read));
    });
    if (taken === undefined) continue;
    const owner =
      taken.script === undefined
        ? "is kept from all scripts"
        : `leads to the script ${taken.script}`;
    throw new CliFault(
      "failed",
      `The route ${taken.pattern} ${owner} already. Nothing was deployed. Take it from there first, or choose another pattern.`,
    );
  }
}

/** All records of a name, or those that are proxied; null when they may not be seen. */
export function recordsOf(
  { api }: CommandContext,
  zone: Zone,
  query: { readonly name?: string; readonly proxied?: boolean; readonly per_page?: number },
): Promise<DnsRecord[] | null> {
  return orUnseen(api.get<DnsRecord[]>(`/zones/${zone.id}/dns_records`, query));
}

/** A token that may deploy need not be one that may look: the server then says what is wrong. */
export async function orUnseen<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiFault && error.kind === "not-allowed") return null;
    throw error;
  }
}
