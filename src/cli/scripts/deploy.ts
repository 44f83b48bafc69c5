/** Ships a project to a server: builds it, shows what changes, uploads it, sets where it is called. */
import { ApiFault } from "../api-fault.ts";
import { command, dryRun, text } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import type { Bundle } from "../project/bundle.ts";
import { showSize } from "../units.ts";
import { type Change, changeLine, changesBetween, type ScriptState } from "./changes.ts";
import { codeBytes, orNull, readDeployed } from "./deployed.ts";
import {
  addressOf,
  projectOf,
  projectOptions,
  runnable,
  type RunnableProject,
  type ScriptAddress,
} from "./project-options.ts";
import { sourceStacks } from "./stacks.ts";
import { deployTriggers, patternsOf, wantsSubdomain } from "./triggers.ts";
import { bindingsOf, uploadForm } from "./upload.ts";

interface Uploaded {
  /** Of the version. */
  readonly deployment_id: string;
  readonly startup_time_ms?: number;
}

export const deployScript = command({
  path: "deploy",
  summary: "ship the script of this project to the server",
  description:
    "Builds the project, shows what changes against the version that is deployed, uploads it, and sets its routes, domains and cron triggers. The server starts the new version before it takes the place of the old one; when it does not start, nothing changes.",
  options: {
    ...projectOptions,
    message: text("TEXT", "kept with the version, for the list of versions", "-m"),
    tag: text("TEXT", "a name for the version"),
    dryRun,
  },
  examples: [
    ["selvedge deploy", "the project in this folder"],
    ["selvedge deploy --env staging --message 'new shop front'", "its environment staging"],
    ["selvedge deploy --dry-run", "only what would change"],
  ],
  json: "the script, its version, its URLs and what changed",
  async run({ options }, context) {
    const { api, out } = context;
    const project = runnable(await projectOf(options, context));
    const { bundleProject } = await import("../project/bundle.ts");
    const colour = out.noteStyle.red("") !== "";
    const bundle = await bundleProject(project, { mode: "production", colour });
    for (const warning of bundle.warnings) out.note(warning);
    const bytes = bytesOf(bundle);
    out.note(`Built ${project.name}: ${showSize(bytes)} in ${countOf(bundle)}.`);
    const address = await addressOf(project.name, project, context);
    const before = await readDeployed(api, address);
    await mustHaveBuckets(project, address, context);
    const changes = changesBetween(before, stateOf(project, bytes), kept(project));
    tell(changes, before === null, context);
    if (options.dryRun) {
      out.result({ name: project.name, dry_run: true, changes }, "Nothing was deployed.");
      return;
    }
    const form = uploadForm(project, bundle, options);
    const began = performance.now();
    const uploaded = await api
      .put<Uploaded>(address.path, form, { excludeScript: true })
      .catch((error: unknown) => refused(error, bundle));
    const version = asUuid(uploaded.deployment_id);
    await deployTriggers(api, address, project).catch((error: unknown) => half(error, version));
    const ms = Math.round(performance.now() - began);
    const urls = await urlsOf(project, address, context);
    out.result({ name: project.name, version_id: version, urls, changes }, () =>
      [
        `Deployed ${project.name} in ${ms} ms: version ${version}.`,
        ...urls.map((url) => `  ${url}`),
      ].join("\n"),
    );
  },
});

/** The original leaves out the hyphens here, and nowhere else. */
function asUuid(id: string): string {
  return id.replace(/^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, "$1-$2-$3-$4-$5");
}

/** The server has tried to start it: what it says names places in what was built. */
function refused(error: unknown, { sourceMap, modules }: Bundle): never {
  if (!(error instanceof ApiFault)) throw error;
  const message = sourceStacks(sourceMap, modules[0]!.name)(error.message);
  throw new CliFault(error.kind, `Nothing was deployed: ${message}`, { cause: error });
}

function half(error: unknown, version: string): never {
  if (!(error instanceof ApiFault)) throw error;
  const message = `Version ${version} is deployed, but not all of its routes, domains and crons are set: ${error.message}`;
  throw new CliFault(error.kind, message, { cause: error });
}

function bytesOf({ modules }: Bundle): number {
  return codeBytes(modules.map(({ type, content }) => ({ type, bytes: content.length })));
}

function countOf({ modules }: Bundle): string {
  const count = modules.filter(({ type }) => type !== "sourcemap").length;
  return count === 1 ? "one module" : `${count} modules`;
}

/** A name that is bound to nothing would fail at the first request: better now. */
async function mustHaveBuckets(
  project: RunnableProject,
  { path }: ScriptAddress,
  { api }: CommandContext,
): Promise<void> {
  const account = path.split("/").slice(0, 3).join("/");
  const names = [...new Set(project.buckets.map(({ bucketName }) => bucketName))];
  const found = await Promise.all(
    names.map((name) => orNull(api.get(`${account}/storage/buckets/${encodeURIComponent(name)}`))),
  );
  const missing = names.filter((_, i) => found[i] === null);
  if (missing.length === 0) return;
  const commands = missing.map((name) => `  selvedge bucket create ${name}`);
  throw new CliFault(
    "not-found",
    `There is no bucket ${missing.join(", ")}, which the script binds. Nothing was deployed. Make it with:\n${commands.join("\n")}`,
  );
}

function stateOf(project: RunnableProject, bytes: number): ScriptState {
  return {
    bytes,
    compatibilityDate: project.compatibilityDate,
    compatibilityFlags: project.compatibilityFlags,
    bindings: bindingsOf(project),
    routes: patternsOf(project),
    crons: project.crons,
    onSubdomain: wantsSubdomain(project),
  };
}

function kept({ keepsVars }: RunnableProject): Set<string> {
  return new Set(["secret_text", "secret_key", ...(keepsVars ? ["plain_text", "json"] : [])]);
}

function tell(changes: readonly Change[], isNew: boolean, { out }: CommandContext): void {
  const { green, red, yellow } = out.noteStyle;
  const paint = { "+": green, "-": red, "~": yellow } as const;
  const lines = changes.map(changeLine).map((line) => `  ${paint[line[0] as "+"](line)}`);
  if (isNew) out.note("It is new on the server:");
  else if (lines.length > 0) out.note("Against the version that is deployed:");
  else out.note("Size and settings are as in the version that is deployed.");
  if (lines.length > 0) out.note(lines.join("\n"));
}

async function urlsOf(
  project: RunnableProject,
  { path }: ScriptAddress,
  { api }: CommandContext,
): Promise<string[]> {
  const routes = (project.routes ?? []).map(({ pattern }) =>
    /^https?:\/\//.test(pattern) ? pattern : `http://${pattern}`,
  );
  if (!wantsSubdomain(project)) return routes;
  const worker = path.replace(/\/scripts\/([^/]*)$/, "/workers/$1");
  const { subdomain } = await api.get<{ subdomain: { url: string } }>(worker);
  return [subdomain.url, ...routes];
}
