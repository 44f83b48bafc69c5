/** Where and when a deployed script is called: its own name, routes, custom domains, crons. */
import type { ApiClient } from "../api-client.ts";
import type { Project, ProjectRoute } from "../project/project.ts";
import type { ScriptAddress } from "./project-options.ts";

/** Without a word about it, a script that has no route needs a name of its own to be reached. */
export function wantsSubdomain(project: Project): boolean {
  return project.onSubdomain ?? (project.routes ?? []).length === 0;
}

export function patternsOf(project: Project): string[] | null {
  return project.routes?.filter((route) => !route.isDomain).map(({ pattern }) => pattern) ?? null;
}

export function domainsOf(project: Project): string[] | null {
  const domains = project.routes?.filter((route) => route.isDomain);
  return domains?.map(({ pattern }) => pattern.toLowerCase()) ?? null;
}

/** Unless the domains may replace what stands in their way, that is an error. */
export async function deployTriggers(
  api: ApiClient,
  { path }: ScriptAddress,
  project: Project,
  mayReplace: boolean,
): Promise<void> {
  if (project.routes !== null) {
    const [domains, routes] = [
      project.routes.filter(({ isDomain }) => isDomain),
      project.routes.filter(({ isDomain }) => !isDomain),
    ];
    await api.put(
      `${path}/routes`,
      routes.map((route) => ({ pattern: route.pattern, ...zoneOf(route) })),
    );
    await api.put(`${path}/domains/records`, {
      override_scope: true,
      override_existing_origin: mayReplace,
      override_existing_dns_record: mayReplace,
      origins: domains.map((domain) => ({ hostname: domain.pattern, ...zoneOf(domain) })),
    });
  }
  if (project.crons !== null) {
    await api.put(
      `${path}/schedules`,
      project.crons.map((cron) => ({ cron })),
    );
  }
  // Last: a script whose routes cannot be set keeps the name that it has been reached by.
  await api.post(`${path}/subdomain`, { enabled: wantsSubdomain(project) });
}

function zoneOf({ zoneId, zoneName }: ProjectRoute) {
  return {
    ...(zoneId !== null && { zone_id: zoneId }),
    ...(zoneName !== null && { zone_name: zoneName }),
  };
}
