/** The zones that a project's routes and domains are in, and what may be seen there. */
import type { RoutePattern } from "#scripts";
import { ApiFault } from "../api-fault.ts";
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import type { ProjectRoute } from "../project/project.ts";
import type { DnsRecord } from "../records/record.ts";
import { usualZone, type Zone } from "../zones/zone.ts";
import type { ScriptAddress } from "./project-options.ts";

/** A route or domain of the project with the zone it is in. */
export interface Placed {
  readonly route: ProjectRoute;
  readonly zone: Zone;
}

export interface PlacedPattern {
  readonly zone: Zone;
  readonly pattern: RoutePattern;
}

/** Throws when there is no zone for one of them. */
export async function placedIn(
  routes: readonly ProjectRoute[],
  { account }: ScriptAddress,
  { api, usesToken }: CommandContext,
): Promise<Placed[]> {
  if (routes.length === 0) return [];
  const zones = await api.all<Zone>("/zones", { "account.id": account.split("/").at(-1)! });
  const placed: Placed[] = [];
  const homeless: ProjectRoute[] = [];
  for (const route of routes) {
    const zone = zoneOf(route, zones);
    if (zone === null) homeless.push(route);
    else placed.push({ route, zone });
  }
  if (homeless.length === 0) return placed;
  const shown = homeless.map(({ pattern }) => pattern).join(", ");
  const commands = new Set(homeless.map((route) => `  selvedge zone create ${zoneNameFor(route)}`));
  throw new CliFault(
    "not-found",
    usesToken
      ? `This token sees no zone for ${shown}: there is none, or it may not set routes there. Nothing was deployed.`
      : `There is no zone for ${shown}. Nothing was deployed. Make it with:\n${[...commands].join("\n")}`,
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

function zoneNameFor(route: ProjectRoute): string {
  return route.zoneName ?? usualZone(hostOf(route));
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
