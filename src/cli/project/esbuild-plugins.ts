/** What the bundler must know of the runtime: modules that travel beside the script, imports that it brings. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { basename, relative, sep } from "node:path";
import type { Plugin } from "esbuild";
import type { ScriptModule } from "#scripts";
import { quickFilter, rulesFor, typeByRules } from "./module-rules.ts";
import type { Project } from "./project.ts";

/** By the file's path. */
export type Collected = Map<string, ScriptModule>;

/** Marks a lookup of our own, so that it is not taken for another import. */
const OWN_LOOKUP = Symbol("own lookup");

/** Text, data and wasm become modules of their own, named by their content. */
export function modulePlugin(project: Project, collected: Collected): Plugin {
  const rules = rulesFor(project.rules, true);
  return {
    name: "modules",
    setup(build) {
      build.onResolve({ filter: quickFilter(rules) }, async (args) => {
        if (args.pluginData === OWN_LOOKUP || args.kind === "entry-point") return null;
        const { importer, resolveDir, kind } = args;
        const asked = args.path.replace(/\?\w+$/, ""); // `x.wasm?module` is `x.wasm`.
        const found = await build.resolve(asked, {
          importer,
          resolveDir,
          kind,
          pluginData: OWN_LOOKUP,
        });
        if (found.errors.length > 0) return { errors: found.errors, warnings: found.warnings };
        const type = typeByRules(rules, relative(project.folder, found.path).split(sep).join("/"));
        if (type === null) return null;
        const content = await readFile(found.path);
        const digest = createHash("sha1").update(content).digest("hex");
        const name = `${digest}-${basename(found.path)}`;
        collected.set(found.path, { name, type, content });
        return { path: `./${name}`, external: true, watchFiles: [found.path] };
      });
    },
  };
}

const NODE_MODULES = new Set(builtinModules.filter((name) => !name.startsWith("_")));
const NODE_FLAGS = new Set(["nodejs_compat", "nodejs_compat_v2"]);

/** `cloudflare:*`, `node:*`: the runtime has them. */
export function runtimeImports(flags: readonly string[]): Plugin {
  const hasNode = flags.some((flag) => NODE_FLAGS.has(flag));
  return {
    name: "runtime imports",
    setup(build) {
      build.onResolve({ filter: /^(?:cloudflare|workerd):/ }, ({ path }) => ({
        path,
        external: true,
      }));
      build.onResolve({ filter: /^node:/ }, ({ path }) => ({
        path,
        external: true,
        ...(!hasNode && { warnings: [{ text: needsFlag(path) }] }),
      }));
      build.onResolve({ filter: /^[a-z_]+(?:\/[a-z_]+)?$/ }, async (args) => {
        if (!NODE_MODULES.has(args.path) || args.pluginData === OWN_LOOKUP) return null;
        const { importer, resolveDir, kind } = args;
        // A package of that name wins, such as a `buffer` for browsers.
        const found = await build.resolve(args.path, {
          importer,
          resolveDir,
          kind,
          pluginData: OWN_LOOKUP,
        });
        if (found.errors.length === 0) return found;
        const path = `node:${args.path}`;
        if (hasNode) return { path, external: true };
        return { path, external: true, warnings: [{ text: needsFlag(path) }] };
      });
    },
  };
}

function needsFlag(path: string): string {
  return `"${path}" is there only with compatibility_flags = ["nodejs_compat"]`;
}
