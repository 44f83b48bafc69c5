/** Why a file of the user's could not be read or written, in words. */
import { CliFault } from "./fault.ts";

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "you are not allowed to",
  EPERM: "you are not allowed to",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is no folder",
  EEXIST: "something of that name is there",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
  ENAMETOOLONG: "the name is too long",
};

/** `verb`: read, write. */
export function fileFault(verb: string, path: string, error: unknown): CliFault {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return new CliFault(
    code === "ENOENT" ? "not-found" : "failed",
    `Cannot ${verb} ${path}: ${reasons[code] ?? message}.`,
    { cause: error },
  );
}
