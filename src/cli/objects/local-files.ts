/** Which files a `put` stores, and under which keys. */
import { type Dirent, existsSync, type Stats } from "node:fs";
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

/** What lies in a folder and cannot be stored. */
export interface Skipped {
  readonly path: string;
  readonly why: string;
}

export interface Plan {
  readonly planned: readonly Planned[];
  readonly skipped: readonly Skipped[];
}

/**
 * One file goes under the key itself; several, and one to an address that ends in a slash, below it by their
 * names. A folder's files go below it by their paths.
 */
export async function planPut(
  { bucket, key }: Address,
  given: readonly string[],
  { cwd, isRecursive }: { readonly cwd: string; readonly isRecursive: boolean },
): Promise<Plan> {
  const below = key === "" || key.endsWith("/");
  const planned: Planned[] = [];
  const skipped: Skipped[] = [];
  for (const name of given) {
    const path = resolve(cwd, name);
    const found = await fileAt(path, name, given.length === 1 ? resolve(cwd, bucket, key) : null);
    if (found === "folder") {
      if (!isRecursive) throw wrongUsage(`${name} is a folder. Give --recursive for all in it.`);
      const prefix = below ? key : `${key}/`;
      for (const file of await filesIn(path, skipped)) {
        planned.push({ key: prefix + relative(path, file.path).split(sep).join("/"), file });
      }
    } else if (!below && given.length > 1) {
      throw wrongUsage(`Several files cannot have one key. End it with a slash: ${key}/.`);
    } else planned.push({ key: below ? key + basename(path) : key, file: found });
  }
  mustDiffer(planned);
  return { planned, skipped };
}

/** `target` is where the object shall go, read as a path: people have it the other way round, too. */
async function fileAt(
  path: string,
  name: string,
  target: string | null,
): Promise<LocalFile | "folder"> {
  const found = await stat(path).catch((error: unknown) => {
    if (target !== null && existsSync(target)) {
      throw wrongUsage(`There is no file ${name}. The target comes first: BUCKET/KEY, then FILE.`);
    }
    throw fileFault("read", name, error);
  });
  if (found.isDirectory()) return "folder";
  if (found.isFile()) return { path, size: found.size, mtimeMs: found.mtimeMs };
  throw wrongUsage(`${name} is no plain file. Give - and pipe into standard input instead.`);
}

/** Plain files at any depth, by path. Links to files count, those to folders do not: they may be circles. */
async function filesIn(folder: string, skipped: Skipped[]): Promise<LocalFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw fileFault("read", folder, error);
  });
  const files: LocalFile[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    const found = await stat(path).catch(() => null);
    if (found?.isFile() === true) files.push({ path, size: found.size, mtimeMs: found.mtimeMs });
    else if (entry.isDirectory() && found !== null) files.push(...(await filesIn(path, skipped)));
    else skipped.push({ path, why: reasonAgainst(entry, found) });
  }
  return files;
}

/** What stands for octets that are no UTF-8, with which a name leads nowhere. */
const REPLACEMENT = "\uFFFD";

function reasonAgainst(entry: Dirent, found: Stats | null): string {
  if (found?.isDirectory() === true) return "it is a link to a folder";
  if (found !== null) return "it is no plain file";
  if (entry.name.includes(REPLACEMENT)) return "its name is not UTF-8";
  return entry.isSymbolicLink() ? "it is a link that leads nowhere" : "it cannot be read";
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
