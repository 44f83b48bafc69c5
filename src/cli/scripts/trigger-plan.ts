/** Looks, before anything is uploaded, whether a project's routes, domains and crons can be set, and what stands in their way. */
import { basename } from "node:path";
import type { RoutePattern } from "#scripts";
import type { CommandContext } from "../context.ts";
import { CliFault, wrongUsage } from "../fault.ts";
import type { Project } from "../project/project.ts";
import { domainConflicts, type DomainConflict } from "./domain-conflicts.ts";
import type { ScriptAddress } from "./project-options.ts";
import { proxyAdvice } from "./proxy-advice.ts";
import { orUnseen, placedIn, type PlacedPattern } from "./route-places.ts";

export interface TriggerPlan {
  /** What the domains would replace: only when the user says so. */
  readonly conflicts: readonly DomainConflict[];
  readonly warnings: readonly string[];
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
  // The server's own rules, loaded for those who have routes or crons.
  const { parseCron, parseRoutePattern, printRoutePattern } = await import("#scripts");
  checkCrons(project, parseCron);
  const placed = await placedIn(routes, address, context);
  const domains = placed.filter(({ route }) => route.isDomain);
  const patterns = placed
    .filter(({ route }) => !route.isDomain)
    .map(({ route, zone }) => {
      const read = () => parseRoutePattern(route.pattern, zone.name);
      return { zone, pattern: inFile(project, "routes", read) };
    });
  await mustBeFree(patterns, address, context, { parseRoutePattern, printRoutePattern });
  return {
    conflicts: await domainConflicts(domains, address, context),
    warnings: await proxyAdvice(patterns, domains, context),
  };
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

interface PatternRules {
  readonly parseRoutePattern: (text: string, zoneName: string) => RoutePattern;
  readonly printRoutePattern: (pattern: RoutePattern) => string;
}

/** No two scripts can have the same pattern. */
async function mustBeFree(
  patterns: readonly PlacedPattern[],
  { name }: ScriptAddress,
  { api }: CommandContext,
  { parseRoutePattern, printRoutePattern }: PatternRules,
): Promise<void> {
  for (const [zone, group] of Map.groupBy(patterns, (one) => one.zone)) {
    const wanted = new Set(group.map(({ pattern }) => printRoutePattern(pattern)));
    const there = await orUnseen(
      api.get<{ pattern: string; script?: string }[]>(`/zones/${zone.id}/workers/routes`),
    );
    const taken = there?.find(({ pattern, script }) => {
      const read = parseRoutePattern(pattern, zone.name);
      return script !== name && wanted.has(printRoutePattern(read));
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
