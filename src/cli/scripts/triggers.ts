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

export async function deployTriggers(
  api: ApiClient,
  { path }: ScriptAddress,
  project: Project,
): Promise<void> {
  await api.post(`${path}/subdomain`, { enabled: wantsSubdomain(project) });
  if (project.routes !== null) {
    const [domains, routes] = [
      project.routes.filter(({ isDomain }) => isDomain),
      project.routes.filter(({ isDomain }) => !isDomain),
    ];
    await api.put(
      `${path}/routes`,
      routes.map((route) => ({ pattern: route.pattern, ...zoneOf(route) })),
    );
    await deployDomains(api, path, domains);
  }
  if (project.crons !== null) {
    await api.put(
      `${path}/schedules`,
      project.crons.map((cron) => ({ cron })),
    );
  }
}

async function deployDomains(
  api: ApiClient,
  path: string,
  domains: readonly ProjectRoute[],
): Promise<void> {
  const origins = domains.map((domain) => ({ hostname: domain.pattern, ...zoneOf(domain) }));
  await api.put(`${path}/domains/records`, {
    override_scope: true,
    override_existing_origin: true,
    override_existing_dns_record: true,
    origins,
  });
}

function zoneOf({ zoneId, zoneName }: ProjectRoute) {
  return {
    ...(zoneId !== null && { zone_id: zoneId }),
    ...(zoneName !== null && { zone_name: zoneName }),
  };
}
