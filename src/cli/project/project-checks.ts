/** The rules of a project file that look at several keys. */
import { placed, type ProjectDocument, ProjectFault, spelled } from "./document.ts";
import type { EnvironmentFile, ProjectFile } from "./shape.ts";
import type { KeyPath } from "./toml-lines.ts";

export function checkRoutes(document: ProjectDocument, settings: EnvironmentFile): void {
  if (settings.route === undefined || settings.routes === undefined) return;
  throw new ProjectFault(
    placed(document, ["route"], "cannot stand beside routes; keep one of them"),
  );
}

/** Every name on env is one thing. */
export function checkNames(
  document: ProjectDocument,
  settings: EnvironmentFile,
  place: KeyPath,
): void {
  const names = namesOf(settings).map(({ name, path }) => ({ name, path: [...place, ...path] }));
  const first = new Map<string, KeyPath>();
  const twice: string[] = [];
  for (const { name, path } of names) {
    const other = first.get(name);
    if (other === undefined) first.set(name, path);
    else {
      const message = `"${name}" is the name of ${spelled(other)} already; on env each needs its own`;
      twice.push(placed(document, path, message));
    }
  }
  if (twice.length > 0) throw new ProjectFault(twice.join("\n"));
}

function namesOf(settings: EnvironmentFile): { name: string; path: KeyPath }[] {
  const listed = (["store_buckets", "r2_buckets", "services"] as const).flatMap((kind) =>
    (settings[kind] ?? []).map(({ binding }, index) => ({
      name: binding,
      path: [kind, index, "binding"],
    })),
  );
  const version = settings.version_metadata;
  return [
    ...Object.keys(settings.vars ?? {}).map((name) => ({ name, path: ["vars", name] })),
    ...listed,
    ...(version === undefined
      ? []
      : [{ name: version.binding, path: ["version_metadata", "binding"] }]),
  ];
}

const OWN = [
  "vars",
  "define",
  "store_buckets",
  "r2_buckets",
  "services",
  "version_metadata",
] as const;

/** What someone may believe to be inherited. */
export function notInherited(
  document: ProjectDocument,
  file: ProjectFile,
  chosen: EnvironmentFile,
  place: KeyPath,
): string[] {
  const warnings: string[] = [];
  for (const key of OWN) {
    if (file[key] === undefined) continue;
    if (chosen[key] === undefined) {
      const message = `${key} of the top level is not inherited: give the environment its own`;
      warnings.push(placed(document, place, message));
    } else if (key === "vars") {
      const missing = Object.keys(file.vars ?? {}).filter(
        (name) => !Object.hasOwn(chosen.vars ?? {}, name),
      );
      for (const name of missing) {
        const message = `has no "${name}", which the top level has: vars are not inherited`;
        warnings.push(placed(document, [...place, "vars"], message));
      }
    }
  }
  return warnings;
}
