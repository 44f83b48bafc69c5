/** Files that are whole after a power cut: either the old bytes or the new ones. */
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file and returns when its bytes and its name are on disk. */
export async function writeDurably(path: string, bytes: string | Uint8Array, mode: number) {
  const draft = `${path}.new`;
  const file = await open(draft, "w", mode);
  try {
    await file.chmod(mode); // The mode given to open() is not applied to a draft left by a crash.
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
