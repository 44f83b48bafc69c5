/** The calls that the files driver makes to the system; tests hand in some that fail. */
import * as fs from "node:fs";
import { promisify } from "node:util";
import { openAtOnce } from "#kit/open-at-once.ts";
import { ObjectFault } from "../fault.ts";

export interface Disk {
  readonly open: (path: string, flags: number, mode?: number) => Promise<number>;
  /** The same to read, where no disk has to be waited for; null where one has, or it cannot be. */
  readonly openAtOnce: (path: string) => number | null;
  /** Not worth a thread: what an open file's size is, the system has in memory. */
  readonly size: (fd: number) => number;
  /** At the given place of the file. Returns how many octets were read; fewer than asked is allowed. */
  readonly read: (fd: number, into: Uint8Array, at: number) => Promise<number>;
  /** The same for writing. */
  readonly write: (fd: number, bytes: Uint8Array, at: number) => Promise<number>;
  /** The octets and the size. */
  readonly syncData: (fd: number) => Promise<void>;
  /** For folders: their entries. */
  readonly sync: (fd: number) => Promise<void>;
  readonly close: (fd: number) => Promise<void>;
  /** Closes what was only read, so that nothing can be lost. */
  readonly leave: (fd: number) => void;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly unlink: (path: string) => Promise<void>;
  /** When the file was last written. */
  readonly writtenAt: (path: string) => Promise<number>;
}

const stat = promisify(fs.stat);

// The callback functions: a FileHandle costs twice the time on the main thread for each call.
export const systemDisk: Disk = {
  open: promisify(fs.open),
  openAtOnce,
  size: (fd) => fs.fstatSync(fd).size,
  read: (fd, into, at) =>
    new Promise((resolve, reject) => {
      fs.read(fd, into, 0, into.length, at, (error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    }),
  write: (fd, bytes, at) =>
    new Promise((resolve, reject) => {
      fs.write(fd, bytes, 0, bytes.length, at, (error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    }),
  syncData: promisify(fs.fdatasync),
  sync: promisify(fs.fsync),
  close: promisify(fs.close),
  leave(fd) {
    // The last to close a file that was deleted waits for the disk.
    if (fs.fstatSync(fd).nlink === 0) fs.close(fd, () => {});
    else fs.closeSync(fd);
  },
  rename: promisify(fs.rename),
  unlink: promisify(fs.unlink),
  writtenAt: async (path) => (await stat(path)).mtimeMs,
};

/** In words without paths, which are not for clients; the cause has them, for the log. */
export function diskFault(
  doing: "write" | "open" | "read" | "delete" | "list",
  cause: unknown,
): ObjectFault {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new ObjectFault("unavailable", `Cannot ${doing} a blob: ${code ?? message}.`, { cause });
}

export function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
