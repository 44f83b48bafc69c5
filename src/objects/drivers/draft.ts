/** A file on its way to being a blob. */
import { constants } from "node:fs";
import { type Disk, diskFault } from "./disk.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_WRONLY } = constants;
const MODE = 0o600;

export class Draft {
  readonly #disk: Disk;
  #path: string;
  #fd: number | null = null;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** Makes the file, at the first call. */
  async open(): Promise<number> {
    this.#fd ??= await this.#disk
      .open(this.#path, O_WRONLY | O_CREAT | O_EXCL, MODE)
      .catch((cause: unknown) => {
        throw diskFault("write", cause);
      });
    return this.#fd;
  }

  /**
   * Gives the file its name before the sync, so that one commit of the file system's journal takes
   * octets and name: half the waiting. Nobody is told of the name until both are on disk.
   */
  async keep(folder: string, path: string): Promise<void> {
    const fd = await this.open();
    try {
      await this.#disk.rename(this.#path, path);
      this.#path = path;
      await bothOf(this.#disk.syncData(fd), syncFolder(this.#disk, folder));
    } catch (cause) {
      throw diskFault("write", cause);
    }
  }

  /** Also after a sync that failed: the system may have dropped octets, and tells of it only once. */
  async discard(): Promise<void> {
    if (this.#fd === null) return;
    await this.#disk.close(this.#fd).catch(() => {}); // The fault that led here is the one to tell.
    await this.#disk.unlink(this.#path).catch(() => {});
  }

  /** Nobody needs to wait for it: everything is on disk. */
  close(): void {
    if (this.#fd !== null) this.#disk.close(this.#fd).catch(() => {});
  }
}

/** Returns when the names in a folder are on disk. */
export async function syncFolder(disk: Disk, path: string): Promise<void> {
  const fd = await disk.open(path, O_RDONLY | O_DIRECTORY);
  try {
    await disk.sync(fd);
  } finally {
    await disk.close(fd);
  }
}

/** Waits for both even if one fails: what still runs must not meet a closed file. */
async function bothOf(one: Promise<void>, other: Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled([one, other]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
