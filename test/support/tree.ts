/** A tree of files that a tool sends away and fetches again, and whether it came back the same. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export type Tree = Readonly<Record<string, Buffer>>;

/** Names that tools and servers stumble over, an empty file, and one that goes in parts. */
export const ODD_TREE: Tree = {
  "plain.txt": Buffer.from("plain\n"),
  empty: Buffer.alloc(0),
  "with space/and+plus & more.txt": Buffer.from("odd\n"),
  "ünï/çödé/日本語.txt": Buffer.from("unicode\n"),
  "percent%20literal.txt": Buffer.from("percent\n"),
  "deep/a/b/c/d/e.bin": randomBytes(100_000),
  "large.bin": randomBytes(20 * 1024 ** 2),
};

export async function writeTree(folder: string, tree: Tree): Promise<void> {
  for (const [name, octets] of Object.entries(tree)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), octets);
  }
}

export async function sameTree(folder: string, tree: Tree): Promise<void> {
  const found = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  assert.deepEqual(found.toSorted(), Object.keys(tree).toSorted());
  for (const [name, octets] of Object.entries(tree)) {
    assert.ok(octets.equals(await readFile(join(folder, name))), `${name} differs`);
  }
}
