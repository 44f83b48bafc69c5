/** Ships a project to a server: builds it, shows what changes, uploads it, sets where it is called. */
import { sourceStacks } from "#kit/source-stacks.ts";
import { ApiFault } from "../api-fault.ts";
import { command, dryRun, flag, text } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import type { Bundle } from "../project/bundle.ts";
import type { Project } from "../project/project.ts";
import { visible } from "../table.ts";
import { showSize } from "../units.ts";
import { type Change, changeLine, changesBetween, type ScriptState } from "./changes.ts";
import { codeBytes, readDeployed, scriptsHost } from "./deployed.ts";
import { conflictChanges, conflictQuestion } from "./domain-conflicts.ts";
import { mustHaveBuckets } from "./missing-buckets.ts";
import {
  addressOf,
  projectOf,
  projectOptions,
  runnable,
  type RunnableProject,
} from "./project-options.ts";
import { planTriggers } from "./trigger-plan.ts";
import { deployTriggers, domainsOf, patternsOf, wantsSubdomain } from "./triggers.ts";
import { bindingsOf, uploadForm } from "./upload.ts";
import { ownUrl, routeUrls } from "./urls.ts";

interface Uploaded {
  /** Of the version. */
  readonly deployment_id: string;
  readonly startup_time_ms?: number;
}

export const deployScript = command({
  path: "deploy",
  summary: "ship the script of this project to the server",
  description:
    "Builds the project, shows what changes against the version that is deployed, uploads it, and sets its routes, domains and cron triggers. What these would replace is shown and asked about first. The server starts the new version before it takes the place of the old one; when it does not start, nothing changes.",
  options: {
    ...projectOptions,
    message: text("TEXT", "kept with the version, for the list of versions", "-m"),
    tag: text("TEXT", "a name for the version"),
    dryRun,
    yes: flag("make buckets that are missing, and replace what custom domains stand on", "-y"),
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
    const bundle = await bundled(project, context);
    const bytes = bytesOf(bundle);
    const address = await addressOf(project.name, project, context);
    const host = await scriptsHost(api, address.account);
    const before = await readDeployed(api, address, ownUrl(project.name, host));
    await mustHaveBuckets(project, address, context, options);
    const { conflicts, warnings } = await planTriggers(project, address, context);
    for (const warning of warnings) out.warn(warning);
    const replaced = conflictChanges(conflicts, project.name);
    const changes = [
      ...changesBetween(before, stateOf(project, bytes, host), kept(project)).filter(
        ({ what }) => !replaced.some((one) => one.what === what),
      ),
      ...replaced,
    ];
    if (!out.json) tell(changes, before, project, out); // Who asks for JSON gets them with the result.
    if (options.dryRun) {
      out.result({ name: project.name, dry_run: true, changes }, "Nothing was deployed.");
      return;
    }
    if (conflicts.length > 0 && !options.yes) {
      await context.confirm(conflictQuestion(conflicts), "Nothing was deployed.");
    }
    const form = uploadForm(project, bundle, options);
    const began = performance.now();
    const upload = api.put<Uploaded>(address.path, form, { excludeScript: true });
    const uploaded = await out
      .working(`Uploading ${project.name} (${showSize(bytes)}) and starting it`, upload)
      .catch((error: unknown) => refused(error, bundle));
    const version = asUuid(uploaded.deployment_id);
    const set = deployTriggers(api, address, project, options.yes || conflicts.length > 0);
    await out
      .working("Setting its routes, domains and crons", set)
      .catch((error: unknown) => half(error, version));
    const ms = Math.round(performance.now() - began);
    const urls = urlsOf(project, host);
    out.result({ name: project.name, version_id: version, urls, changes }, () =>
      [
        `Deployed ${project.name} in ${ms} ms: version ${version}.`,
        ...urls.map((url) => `  ${url}`),
      ].join("\n"),
    );
  },
});

async function bundled(project: RunnableProject, { out }: CommandContext): Promise<Bundle> {
  const { bundleProject } = await import("../project/bundle.ts");
  const colour = out.noteStyle.red("") !== "";
  const build = bundleProject(project, { mode: "production", colour });
  const bundle = await out.working(`Bundling ${project.name}`, build);
  for (const warning of bundle.warnings) out.note(warning);
  if (!out.json) {
    out.note(`Built ${project.name}: ${showSize(bytesOf(bundle))} in ${countOf(bundle)}.`);
  }
  return bundle;
}

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

/** Another script's domain, or DNS records that lead elsewhere, which these credentials could not see before. */
const IN_THE_WAY = new Set([100_116, 100_117]);

function half(error: unknown, version: string): never {
  if (!(error instanceof ApiFault)) throw error;
  const isInTheWay = error.errors.some(({ code }) => IN_THE_WAY.has(code));
  const advice = isInTheWay ? " Deploy with --yes to replace it." : "";
  const message = `Version ${version} is deployed, but not all of its routes, domains and crons are set: ${error.message}${advice}`;
  throw new CliFault(error.kind, message, { cause: error });
}

function bytesOf({ modules }: Bundle): number {
  return codeBytes(modules.map(({ type, content }) => ({ type, bytes: content.length })));
}

function countOf({ modules }: Bundle): string {
  const count = modules.filter(({ type }) => type !== "sourcemap").length;
  return count === 1 ? "one module" : `${count} modules`;
}

function stateOf(project: RunnableProject, bytes: number, host: string): ScriptState {
  return {
    bytes,
    compatibilityDate: project.compatibilityDate,
    compatibilityFlags: project.compatibilityFlags,
    bindings: bindingsOf(project),
    routes: patternsOf(project),
    domains: domainsOf(project),
    crons: project.crons,
    urls: wantsSubdomain(project) ? [ownUrl(project.name, host)] : [],
  };
}

function kept({ keepsVars }: RunnableProject): Set<string> {
  return new Set(["secret_text", "secret_key", ...(keepsVars ? ["plain_text", "json"] : [])]);
}

function tell(
  changes: readonly Change[],
  before: ScriptState | null,
  project: Project,
  out: CommandContext["out"],
): void {
  const { green, red, yellow } = out.noteStyle;
  const paint = { "+": green, "-": red, "~": yellow } as const;
  const lines = changes.map(changeLine).map((line) => `  ${paint[line[0] as "+"](visible(line))}`);
  if (before === null) out.note("It is new on the server:");
  else if (lines.length > 0) out.note("Against the version that is deployed:");
  else out.note("Size and settings are as in the version that is deployed.");
  if (lines.length > 0) out.note(lines.join("\n"));
  const { routes = null, domains = null, crons = null } = before ?? {};
  const stay = (what: string, there: readonly string[]) => {
    if (there.length > 0)
      out.note(`Its ${what} stay, for the project file names none: ${there.join(", ")}`);
  };
  if (project.routes === null) stay("routes", [...(routes ?? []), ...(domains ?? [])]);
  if (project.crons === null) stay("crons", crons ?? []);
}

function urlsOf(project: RunnableProject, host: string): string[] {
  const routes = routeUrls(
    (project.routes ?? []).map(({ pattern }) => pattern),
    host,
  );
  return wantsSubdomain(project) ? [ownUrl(project.name, host), ...routes] : routes;
}
