/** The declaration of a script's `env`, from what its project binds. */
import { ambientTypes } from "./ambient-types.ts";
import type { Project } from "../project/project.ts";

/** The whole file: nothing has to be installed for it. */
export async function envFile(project: Project, secrets: readonly string[]): Promise<string> {
  const head =
    '// Written by "selvedge types" from the project file: run it again after a change there.';
  return [head, envDeclaration(project, secrets), await ambientTypes()].join("\n\n");
}

/** `secrets` are names; their values are nobody's business here. */
export function envDeclaration(project: Project, secrets: readonly string[]): string {
  const members = [
    ...Object.entries(project.vars)
      .filter(([name]) => !secrets.includes(name))
      .map(([name, value]) => [name, typeOf(value, 1)] as const),
    ...secrets.map((name) => [name, "string"] as const),
    ...project.buckets.map(({ binding }) => [binding, "StoreBucket"] as const),
    ...project.services.map(({ binding }) => [binding, "Fetcher"] as const),
    ...(project.versionBinding === null
      ? []
      : [[project.versionBinding, "VersionMetadata"] as const]),
  ];
  const lines = members.map(([name, type]) => `  ${keyOf(name)}: ${type};`);
  return lines.length === 0 ? "interface Env {}" : `interface Env {\n${lines.join("\n")}\n}`;
}

function keyOf(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);
}

function typeOf(value: unknown, depth: number): string {
  if (Array.isArray(value)) {
    const kinds = [...new Set(value.map((item) => typeOf(item, depth)))];
    if (kinds.length === 0) return "unknown[]";
    return kinds.length === 1 && /^\w+$/.test(kinds[0]!)
      ? `${kinds[0]}[]`
      : `(${kinds.join(" | ")})[]`;
  }
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const pad = "  ".repeat(depth + 1);
  const members = Object.entries(value).map(
    ([key, member]) => `${pad}${keyOf(key)}: ${typeOf(member, depth + 1)};`,
  );
  return members.length === 0 ? "{}" : `{\n${members.join("\n")}\n${"  ".repeat(depth)}}`;
}
