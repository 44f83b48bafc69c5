/** A project with `no_bundle`: what it has already is what is uploaded. */
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import type { ScriptModule } from "#scripts";
import { BuildFault } from "./build-fault.ts";
import type { Bundle } from "./bundle.ts";
import { rulesFor, typeByRules } from "./module-rules.ts";
import type { Project } from "./project.ts";

/** The entry as it stands, and what the rules find in its folder. */
export async function asItStands(project: Project, main: string): Promise<Bundle> {
  const rules = rulesFor(project.rules, false);
  const folder = dirname(main);
  const content = await readFile(main).catch((error: Error) => {
    throw new BuildFault(`Cannot read ${relative(project.folder, main)}: ${error.message}.`);
  });
  const modules: ScriptModule[] = [{ name: basename(main), type: "esm", content }];
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of found.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path).split(sep).join("/");
    const type = typeByRules(rules, name);
    if (path === main || type === null || /(?:^|\/)(?:\.|node_modules\/)/.test(name)) continue;
    modules.push({ name, type, content: await readFile(path) });
  }
  return { main: basename(main), modules, sourceMap: null, warnings: [] };
}
