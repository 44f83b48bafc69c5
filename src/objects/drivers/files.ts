/**
 * Blobs as files, `ab/cdef…` in a folder. A blob is written as a draft under `new`; its octets and its name are
 * on disk before `put` resolves. What a crash leaves is a draft, removed at the next start, or a file under a
 * name that nobody was told of, for the sweep.
 */
import { constants } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { atMost } from "#kit/at-once.ts";
import { lockFolder } from "#kit/folder-lock.ts";
import type { BlobDriver, OpenBlob } from "../driver.ts";
import type { Body } from "../model.ts";
import { assertBlobId, isBlobId } from "./blob-id.ts";
import { type Disk, diskFault, isAbsent, systemDisk } from "./disk.ts";
import { Draft, syncFolder } from "./draft.ts";
import { OpenFile } from "./open-file.ts";
import { SlabWriter } from "./slab-writer.ts";

const { O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = constants;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** For drafts; no folder of blobs has this name. */
const DRAFTS = "new";

/** Digits of an id that name its folder. 256 folders: some thousand files in each of a million. */
const FOLDER_DIGITS = 2;

/** Files that a removal or a list works on at once: half the threads, the others serve requests. */
const AT_ONCE = 2;

/** Files that a list looks at before it yields them. */
const LIST_STEP = 64;

/** Opens a folder, which this process then has to itself, and makes what is missing of it. */
export async function openFiles(root: string, disk: Disk = systemDisk): Promise<BlobDriver> {
  const inVain = (cause: unknown) =>
    new Error(`Cannot use the folder ${root} (--blobs): ${(cause as Error).message}.`, { cause });
  await mkdir(root, { recursive: true, mode: FOLDER_MODE }).catch((cause: unknown) => {
    throw inVain(cause);
  });
  const taken = `Cannot use the folder ${root} (--blobs): another Selvedge is running on it.`;
  const lock = lockFolder(root, taken);
  try {
    await makeFolders(root, disk);
    await removeDrafts(join(root, DRAFTS), disk);
    await checkWritable(join(root, DRAFTS), disk);
  } catch (cause) {
    lock[Symbol.dispose]();
    throw inVain(cause);
  }
  return new Files(root, disk, lock);
}

/** For another thread: in a folder that one of this process has opened. */
export function besideOpen(root: string): BlobDriver {
  return new Files(root, systemDisk, null);
}

class Files implements BlobDriver {
  readonly areFiles = true;
  readonly #root: string;
  readonly #disk: Disk;
  readonly #lock: Disposable | null;
  readonly #slabs: SlabWriter;

  constructor(root: string, disk: Disk, lock: Disposable | null) {
    this.#root = root;
    this.#disk = disk;
    this.#lock = lock;
    this.#slabs = new SlabWriter(disk);
  }

  async put(id: string, body: Body): Promise<void> {
    const { folder, path } = this.#placeOf(id);
    const draft = new Draft(this.#disk, join(this.#root, DRAFTS, id));
    try {
      await this.#slabs.write(body, () => draft.open());
      await draft.keep(folder, path);
    } catch (error) {
      await draft.discard();
      throw error;
    }
    draft.close();
  }

  async open(id: string): Promise<OpenBlob | null> {
    const { path } = this.#placeOf(id);
    try {
      const disk = this.#disk;
      return new OpenFile(disk, disk.openAtOnce(path) ?? (await disk.open(path, O_RDONLY)));
    } catch (cause) {
      if (isAbsent(cause)) return null;
      throw diskFault("open", cause);
    }
  }

  /** Not synced: what a crash brings back has no row, and the sweep deletes it again. */
  async delete(ids: readonly string[]): Promise<void> {
    await atMost(AT_ONCE, ids, (id) =>
      this.#disk.unlink(this.#placeOf(id).path).catch((cause: unknown) => {
        if (!isAbsent(cause)) throw diskFault("delete", cause);
      }),
    );
  }

  async *list(): AsyncIterable<{ readonly id: string; readonly writtenAt: number }> {
    for (const folder of folderNames()) {
      const names = await readdir(join(this.#root, folder)).catch((cause: unknown) => {
        throw diskFault("list", cause);
      });
      const ids = names.map((name) => folder + name).filter(isBlobId);
      for (let i = 0; i < ids.length; i += LIST_STEP) {
        yield* await this.#lookAt(ids.slice(i, i + LIST_STEP));
      }
    }
  }

  async #lookAt(ids: readonly string[]) {
    const found: { id: string; writtenAt: number }[] = [];
    await atMost(AT_ONCE, ids, async (id) => {
      try {
        found.push({ id, writtenAt: await this.#disk.writtenAt(this.#placeOf(id).path) });
      } catch (cause) {
        if (!isAbsent(cause)) throw diskFault("list", cause); // Else it was deleted meanwhile.
      }
    });
    return found;
  }

  #placeOf(id: string): { folder: string; path: string } {
    assertBlobId(id);
    const folder = join(this.#root, id.slice(0, FOLDER_DIGITS));
    return { folder, path: join(folder, id.slice(FOLDER_DIGITS)) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lock?.[Symbol.dispose]();
  }
}

function* folderNames(): Iterable<string> {
  for (let i = 0; i < 16 ** FOLDER_DIGITS; i++) {
    yield i.toString(16).padStart(FOLDER_DIGITS, "0");
  }
}

/** Once, so that no write has to ask whether its folder is there. */
async function makeFolders(root: string, disk: Disk): Promise<void> {
  const there = new Set(await readdir(root));
  const missing = [DRAFTS, ...folderNames()].filter((name) => !there.has(name));
  for (const name of missing) await mkdir(join(root, name), { mode: FOLDER_MODE });
  if (missing.length === 0) return;
  await syncFolder(disk, root);
  await syncFolder(disk, join(root, ".."));
}

/** All are of an earlier run, for the folder is ours alone. */
async function removeDrafts(folder: string, disk: Disk): Promise<void> {
  for (const name of await readdir(folder)) await disk.unlink(join(folder, name));
}

async function checkWritable(folder: string, disk: Disk): Promise<void> {
  const path = join(folder, "probe");
  await disk.close(await disk.open(path, O_WRONLY | O_CREAT | O_EXCL, FILE_MODE));
  await disk.unlink(path);
}
