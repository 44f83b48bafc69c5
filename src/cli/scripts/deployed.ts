/** What of a script is on the server now. */
import { ApiFault } from "../api-fault.ts";
import type { ApiClient } from "../api-client.ts";
import type { ScriptState } from "./changes.ts";
import type { ScriptDomain } from "./domain-conflicts.ts";
import type { ScriptAddress } from "./project-options.ts";
import type { ApiBinding } from "./upload.ts";
import type { VersionView } from "./version.ts";

interface Settings {
  readonly bindings: readonly ApiBinding[];
  readonly compatibility_date: string;
  readonly compatibility_flags: readonly string[];
}

/** Null when the server has no such script, or nothing of it is deployed. */
export async function readDeployed(
  api: ApiClient,
  { name, account, path }: ScriptAddress,
  ownUrl: string,
): Promise<ScriptState | null> {
  const settings = await orNull(api.get<Settings>(`${path}/settings`));
  if (settings === null) return null;
  const [routes, domains, schedules, subdomain, bytes] = await Promise.all([
    routesOf(api, account, name),
    api.get<ScriptDomain[]>(`${account}/workers/domains`, { service: name }),
    api.get<{ schedules: { cron: string }[] }>(`${path}/schedules`),
    api.get<{ enabled: boolean }>(`${path}/subdomain`),
    deployedBytes(api, path),
  ]);
  return {
    bytes,
    compatibilityDate: settings.compatibility_date,
    compatibilityFlags: settings.compatibility_flags,
    bindings: settings.bindings,
    routes,
    domains: domains.map(({ hostname }) => hostname),
    crons: schedules.schedules.map(({ cron }) => cron),
    urls: subdomain.enabled ? [ownUrl] : [],
  };
}

/** Their patterns. */
export async function routesOf(api: ApiClient, account: string, name: string): Promise<string[]> {
  const service = `${account}/workers/services/${encodeURIComponent(name)}`;
  const routes = await api.get<{ pattern: string }[]>(`${service}/environments/production/routes`);
  return routes.map(({ pattern }) => pattern);
}

/** `my-account.scripts.test:8080`: what the names of an account's scripts end with. */
export async function scriptsHost(api: ApiClient, account: string): Promise<string> {
  return (await api.get<{ host: string }>(`${account}/workers/subdomain`)).host;
}

/** Of the code that is there, without maps; null when the server does not say. */
async function deployedBytes(api: ApiClient, path: string): Promise<number | null> {
  const { deployments } = await api.get<Deployments>(`${path}/deployments`);
  const current = deployments[0]?.versions[0]?.version_id;
  if (current === undefined) return null;
  const { resources } = await api.get<VersionView>(`${path}/versions/${current}`);
  const { modules } = resources.script;
  if (modules === undefined) return null;
  return codeBytes(modules.map(({ type, size }) => ({ type, bytes: size })));
}

export function codeBytes(modules: readonly { type: string; bytes: number }[]): number {
  return modules
    .filter(({ type }) => type !== "sourcemap")
    .reduce((sum, { bytes }) => sum + bytes, 0);
}

export interface Deployments {
  readonly deployments: readonly Deployment[];
}

export interface Deployment {
  readonly id: string;
  readonly created_on: string;
  readonly author_email: string;
  readonly versions: readonly { readonly version_id: string; readonly percentage: number }[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What is not there is null; every other fault stays one. */
export async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiFault && error.kind === "not-found") return null;
    throw error;
  }
}
