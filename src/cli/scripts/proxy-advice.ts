/** Routes whose names do not lead to the edge: nothing would ever come to them. */
import type { RoutePattern } from "#scripts";
import type { CommandContext } from "../context.ts";
import type { Zone } from "../zones/zone.ts";
import { type Placed, type PlacedPattern, recordsOf } from "./route-places.ts";

/** A zone with more proxied records than this is not looked through for a warning's sake. */
const LOOKED_AT = 5_000;

/** A sentence for each hostname without a proxied record, with the command that makes one. */
export async function proxyAdvice(
  patterns: readonly PlacedPattern[],
  domains: readonly Placed[],
  context: CommandContext,
): Promise<string[]> {
  const own = new Set(domains.map(({ route }) => route.pattern.toLowerCase()));
  const advice: string[] = [];
  for (const [zone, group] of Map.groupBy(patterns, (one) => one.zone)) {
    const proxied = await recordsOf(context, zone, { proxied: true, per_page: LOOKED_AT });
    if (proxied === null || proxied.length === LOOKED_AT) continue;
    const names = new Set([...own, ...proxied.map(({ name }) => name)]);
    const hosts = new Map(group.map(({ pattern }) => [shownHost(pattern), pattern]));
    for (const [host, pattern] of hosts) {
      if (!isCovered(pattern, names)) advice.push(await adviceFor(host, zone, context));
    }
  }
  return advice;
}

/** `*.example.com` of a pattern that takes any name below. */
function shownHost({ host, anyHostBefore }: RoutePattern): string {
  return anyHostBefore ? `*.${host.replace(/^\./, "")}` : host;
}

function isCovered({ host, anyHostBefore }: RoutePattern, names: ReadonlySet<string>): boolean {
  if (anyHostBefore) return [...names].some((name) => name.endsWith(host));
  const wildcards = [...names].filter((name) => name.startsWith("*."));
  return names.has(host) || wildcards.some((name) => host.endsWith(name.slice(1)));
}

async function adviceFor(host: string, zone: Zone, context: CommandContext): Promise<string> {
  const name = host === zone.name ? "@" : host.slice(0, -zone.name.length - 1);
  const there = (await recordsOf(context, zone, { name: host })) ?? [];
  const record = there.find(({ type }) => /^(?:A|AAAA|CNAME)$/.test(type));
  const shown = name.startsWith("*") ? `'${name}'` : name; // Shells have a use for the star.
  const command =
    record === undefined
      ? `selvedge record add ${zone.name} ${shown} AAAA 100:: --proxied`
      : `selvedge record edit ${zone.name} ${shown} ${record.type} --proxied`;
  return `${host} has no proxied record, so that no request comes to its route. Make one with: ${command}`;
}
