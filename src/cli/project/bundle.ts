/** Makes of a project what is uploaded: one script of all its sources, and the modules beside it. */
import { existsSync } from "node:fs";
import { basename, join, relative } from "node:path";
import type { BuildOptions, BuildResult, Plugin } from "esbuild";
import type { ScriptModule } from "#scripts";
import { asBuildFault, BuildFault, buildFault, formatted, rethrow } from "./build-fault.ts";
import { ProjectFault } from "./document.ts";
import { type Collected, modulePlugin, runtimeImports } from "./esbuild-plugins.ts";
import type { Project } from "./project.ts";
import { asItStands } from "./unbundled.ts";

export interface Bundle {
  /** Name of the entry module; null is the older syntax, a script that adds event listeners. */
  readonly main: string | null;
  readonly modules: readonly ScriptModule[];
  /** Of the entry module, as JSON; null where nothing was bundled. */
  readonly sourceMap: string | null;
  readonly warnings: readonly string[];
}

export interface BundleOptions {
  /** What `process.env.NODE_ENV` reads as. */
  readonly mode: "production" | "development";
  readonly colour: boolean;
}

export async function bundleProject(project: Project, options: BundleOptions): Promise<Bundle> {
  const main = mainOf(project);
  if (!project.isBundled) return asItStands(project, main);
  const { build } = await import("esbuild"); // Only here: most commands build nothing.
  const collected: Collected = new Map();
  const settings = buildOptions(project, main, options, collected);
  const result = await build(settings).catch((error: unknown) => rethrow(error, options));
  return finish(project, result, options, collected);
}

/** Builds now and after every change of a source. `hear` is told one after the other. */
export async function watchProject(
  project: Project,
  options: BundleOptions,
  hear: (built: Bundle | BuildFault) => Promise<void>,
): Promise<AsyncDisposable> {
  const main = mainOf(project);
  if (!project.isBundled) {
    throw new ProjectFault(
      `${basename(project.path)}: no_bundle: cannot be watched; run without it`,
    );
  }
  const { context } = await import("esbuild");
  const collected: Collected = new Map();
  const settings = buildOptions(project, main, options, collected);
  const teller: Plugin = {
    name: "teller",
    setup: (build) =>
      build.onEnd(async (result) => {
        const failed = result.errors.length > 0;
        const built = failed
          ? buildFault(result.errors, options)
          : finish(project, result, options, collected);
        await hear(await built.catch(asBuildFault));
      }),
  };
  const watched = await context({ ...settings, plugins: [...settings.plugins!, teller] });
  await watched.watch();
  return { [Symbol.asyncDispose]: () => watched.dispose() };
}

function mainOf(project: Project): string {
  const { main, mainPlace } = project;
  if (main === null) {
    const what = `is missing: the file that the script starts in, such as "src/index.ts"`;
    throw new ProjectFault(`${mainPlace}${what}`);
  }
  if (existsSync(main)) return main;
  throw new ProjectFault(`${mainPlace}there is no file ${relative(project.folder, main)}`);
}

function buildOptions(
  project: Project,
  main: string,
  { mode }: BundleOptions,
  collected: Collected,
): BuildOptions & { metafile: true; write: false } {
  return {
    entryPoints: [main],
    absWorkingDir: project.folder,
    // Nothing is written: the place makes the sources' names in the map relative to the project.
    outfile: join(project.folder, outputName(main)),
    bundle: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["browser", "module", "main"],
    sourcemap: "linked",
    minify: project.isMinified,
    keepNames: project.isMinified,
    define: { "process.env.NODE_ENV": JSON.stringify(mode), ...project.define },
    ...(project.tsconfig !== null && { tsconfig: project.tsconfig }),
    plugins: [modulePlugin(project, collected), runtimeImports(project.compatibilityFlags)],
    metafile: true,
    write: false,
    logLevel: "silent",
  };
}

function outputName(main: string): string {
  return `${basename(main).replace(/\.\w+$/, "")}.js`;
}

async function finish(
  project: Project,
  result: BuildResult<{ metafile: true; write: false }> | BuildResult,
  options: BundleOptions,
  collected: Collected,
): Promise<Bundle> {
  const main = mainOf(project);
  const output = Object.values(result.metafile!.outputs).find((one) => one.entryPoint);
  const isScript = output!.exports.length === 0;
  const files = isScript ? await buildScript(project, main, options) : result.outputFiles!;
  if (isScript && collected.size > 0) {
    const [name] = [...collected.values()].map((module) => module.name.replace(/^\w+-/, ""));
    throw new BuildFault(
      `${relative(project.folder, main)} exports nothing, and scripts in the older syntax cannot import ${name!}: export a default object with fetch().`,
    );
  }
  const code = files.find(({ path }) => path.endsWith(".js"))!;
  const map = files.find(({ path }) => path.endsWith(".map"))!;
  const name = outputName(main);
  return {
    main: isScript ? null : name,
    modules: [
      { name, type: isScript ? "commonjs" : "esm", content: code.contents },
      ...used(collected, code.text),
      { name: `${name}.map`, type: "sourcemap", content: map.contents },
    ],
    sourceMap: map.text,
    warnings: await formatted(result.warnings, "warning", options),
  };
}

/** Modules of an earlier build that nothing imports now stay behind. */
function used(collected: Collected, code: string): ScriptModule[] {
  return [...collected.values()].filter(({ name }) => code.includes(name));
}

/** The older syntax is no module: its names must not become globals. */
async function buildScript(project: Project, main: string, options: BundleOptions) {
  const { build } = await import("esbuild");
  const settings = buildOptions(project, main, options, new Map());
  const result = await build({ ...settings, format: "iife" }).catch((error: unknown) =>
    rethrow(error, options),
  );
  return result.outputFiles;
}
