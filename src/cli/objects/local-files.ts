/** Which files a `put` stores, and under which keys. */
import { readdir, stat } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { wrongUsage } from "../fault.ts";
import { fileFault } from "../file-fault.ts";
import type { Address } from "./address.ts";
import type { LocalFile } from "./upload.ts";

export interface Planned {
  readonly key: string;
  readonly file: LocalFile;
}

/**
 * One file goes under the key itself; several, and one to an address that ends in a slash, below it by their
 * names. A folder's files go below it by their paths.
 */
export async function planPut(
  { key }: Address,
  given: readonly string[],
  { cwd, isRecursive }: { readonly cwd: string; readonly isRecursive: boolean },
): Promise<Planned[]> {
  const below = key === "" || key.endsWith("/");
  const planned: Planned[] = [];
  for (const name of given) {
    const path = resolve(cwd, name);
    const found = await fileAt(path, name);
    if (found === "folder") {
      if (!isRecursive) throw wrongUsage(`${name} is a folder. Give --recursive for all in it.`);
      const prefix = below ? key : `${key}/`;
      for (const file of await filesIn(path)) {
        planned.push({ key: prefix + relative(path, file.path).split(sep).join("/"), file });
      }
    } else if (!below && given.length > 1) {
      throw wrongUsage(`Several files cannot have one key. End it with a slash: ${key}/.`);
    } else planned.push({ key: below ? key + basename(path) : key, file: found });
  }
  mustDiffer(planned);
  return planned;
}

async function fileAt(path: string, name: string): Promise<LocalFile | "folder"> {
  const found = await stat(path).catch((error: unknown) => {
    throw fileFault("read", name, error);
  });
  if (found.isDirectory()) return "folder";
  if (found.isFile()) return { path, size: found.size, mtimeMs: found.mtimeMs };
  throw wrongUsage(`${name} is no plain file. Give - and pipe into standard input instead.`);
}

/** Plain files at any depth, by path. Links to files count, those to folders do not: they may be circles. */
async function filesIn(folder: string): Promise<LocalFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw fileFault("read", folder, error);
  });
  const files: LocalFile[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesIn(path)));
    if (!entry.isFile() && !entry.isSymbolicLink()) continue;
    const found = await stat(path).catch(() => null); // A link to nowhere.
    if (found?.isFile() === true) files.push({ path, size: found.size, mtimeMs: found.mtimeMs });
  }
  return files;
}

function mustDiffer(planned: readonly Planned[]): void {
  const seen = new Map<string, string>();
  for (const { key, file } of planned) {
    const other = seen.get(key);
    if (other !== undefined)
      throw wrongUsage(`${other} and ${file.path} would both become ${key}.`);
    seen.set(key, file.path);
  }
}
