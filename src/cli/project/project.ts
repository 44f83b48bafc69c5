/**
 * A script's project: what its file says, for the environment that was chosen. Keys that are inherited come
 * from the top level when the environment lacks them; bindings and vars are each environment's own.
 */
import { dirname, resolve } from "node:path";
import { suggestion } from "#kit/closest.ts";
import { checkFile } from "./check.ts";
import { parseDocument, placed, type ProjectDocument, ProjectFault } from "./document.ts";
import { checkNames, checkRoutes, notInherited } from "./project-checks.ts";
import type { EnvironmentFile, ModuleRule, ProjectFile, RouteFile } from "./shape.ts";
import type { KeyPath } from "./toml-lines.ts";

export interface Project {
  /** Of the project file. */
  readonly path: string;
  readonly folder: string;
  readonly environment: string | null;
  readonly accountId: string | null;
  /** Null when the file does not say: some commands take it as an argument. */
  readonly name: string | null;
  /** The entry file. */
  readonly main: string | null;
  /** Where the file names it, for faults: `selvedge.toml:2: main: `. */
  readonly mainPlace: string;
  readonly compatibilityDate: string | null;
  readonly compatibilityFlags: readonly string[];
  /** Null leaves those of the server as they are. */
  readonly routes: readonly ProjectRoute[] | null;
  /** Whether it answers under the platform's own domain; null leaves that to whether there are routes. */
  readonly onSubdomain: boolean | null;
  /** Null leaves those of the server as they are. */
  readonly crons: readonly string[] | null;
  readonly vars: Readonly<Record<string, unknown>>;
  readonly buckets: readonly ProjectBucket[];
  readonly services: readonly ProjectService[];
  readonly versionBinding: string | null;
  readonly rules: readonly ModuleRule[];
  readonly define: Readonly<Record<string, string>>;
  readonly tsconfig: string | null;
  readonly isBundled: boolean;
  readonly isMinified: boolean;
  /** Vars that were set on the server by other means stay. */
  readonly keepsVars: boolean;
  readonly dev: { readonly host: string | null; readonly port: number | null };
  readonly warnings: readonly string[];
}

export interface ProjectRoute {
  readonly pattern: string;
  readonly zoneId: string | null;
  readonly zoneName: string | null;
  readonly isDomain: boolean;
}

export interface ProjectBucket {
  readonly binding: string;
  readonly bucketName: string;
  /** Entries of `r2_buckets` are of scripts that were written for the original. */
  readonly keepsDelimiter: boolean;
}

export interface ProjectService {
  readonly binding: string;
  readonly service: string;
  readonly entrypoint: string | null;
}

export interface ReadOptions {
  readonly path: string;
  readonly text: string;
  /** `--env`; null is the top level. */
  readonly environment: string | null;
}

export function readProject({ path, text, environment }: ReadOptions): Project {
  const document = parseDocument(path, text);
  const { file, warnings } = checkFile(document);
  const chosen = environment === null ? null : environmentOf(document, file, environment);
  const place: KeyPath = environment === null ? [] : ["env", environment];
  const settings = chosen === null ? file : inherit(file, chosen);
  checkRoutes(document, settings);
  checkNames(document, chosen ?? file, place);
  return {
    path,
    folder: dirname(path),
    environment,
    ...shared(settings, dirname(path)),
    ...owned(chosen ?? file),
    mainPlace: placed(document, [...(chosen?.main === undefined ? [] : place), "main"], ""),
    name: nameOf(file, chosen, environment),
    dev: { host: file.dev?.host ?? file.dev?.ip ?? null, port: file.dev?.port ?? null },
    warnings: [
      ...warnings,
      ...(chosen === null ? [] : notInherited(document, file, chosen, place)),
    ],
  };
}

function environmentOf(
  document: ProjectDocument,
  file: ProjectFile,
  name: string,
): EnvironmentFile {
  const known = Object.keys(file.env ?? {});
  const found = known.includes(name) ? file.env?.[name] : undefined;
  if (found !== undefined) return found;
  const there = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
  throw new ProjectFault(
    `${document.file}: there is no environment "${name}": ${there}.${suggestion(name, known)}`,
  );
}

function inherit(file: ProjectFile, chosen: EnvironmentFile): EnvironmentFile {
  const routes =
    chosen.route !== undefined || chosen.routes !== undefined
      ? { route: chosen.route, routes: chosen.routes }
      : { route: file.route, routes: file.routes };
  const given = Object.entries(chosen).filter(([, value]) => value !== undefined);
  return { ...file, ...Object.fromEntries(given), ...routes };
}

function nameOf(file: ProjectFile, chosen: EnvironmentFile | null, environment: string | null) {
  if (chosen?.name !== undefined) return chosen.name;
  if (file.name === undefined) return null;
  return environment === null ? file.name : `${file.name}-${environment}`;
}

function shared(settings: EnvironmentFile, folder: string) {
  const { route } = settings;
  const routes = settings.routes ?? (route === undefined ? null : [route]);
  return {
    accountId: settings.account_id ?? null,
    main: settings.main === undefined ? null : resolve(folder, settings.main),
    compatibilityDate: settings.compatibility_date ?? null,
    compatibilityFlags: settings.compatibility_flags ?? [],
    routes: routes?.map(routeOf) ?? null,
    onSubdomain: settings.workers_dev ?? null,
    crons: settings.triggers?.crons ?? null,
    rules: settings.rules ?? [],
    tsconfig: settings.tsconfig === undefined ? null : resolve(folder, settings.tsconfig),
    isBundled: settings.no_bundle !== true,
    isMinified: settings.minify === true,
    keepsVars: settings.keep_vars === true,
  };
}

function routeOf(route: RouteFile): ProjectRoute {
  const given = typeof route === "string" ? { pattern: route } : route;
  return {
    pattern: given.pattern,
    zoneId: given.zone_id ?? null,
    zoneName: given.zone_name ?? null,
    isDomain: given.custom_domain === true,
  };
}

function owned(settings: EnvironmentFile) {
  const bucket =
    (keepsDelimiter: boolean) => (entry: { binding: string; bucket_name: string }) => ({
      binding: entry.binding,
      bucketName: entry.bucket_name,
      keepsDelimiter,
    });
  return {
    vars: settings.vars ?? {},
    define: settings.define ?? {},
    buckets: [
      ...(settings.store_buckets ?? []).map(bucket(false)),
      ...(settings.r2_buckets ?? []).map(bucket(true)),
    ],
    services: (settings.services ?? []).map(({ binding, service, environment, entrypoint }) => ({
      binding,
      service: environment === undefined ? service : `${service}-${environment}`,
      entrypoint: entrypoint ?? null,
    })),
    versionBinding: settings.version_metadata?.binding ?? null,
  };
}
