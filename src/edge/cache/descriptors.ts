/**
 * Files by their descriptors: a FileHandle costs twice the time of each call, and one that a careless reader
 * leaves behind ends the process when it is collected.
 */
import * as fs from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

export const open = promisify(fs.open);
export const close = promisify(fs.close);

/** Null when there is no such file. */
export function openIfThere(path: string): Promise<number | null> {
  return open(path, "r").catch(nullIfAbsent);
}

/** All of a small file. */
export function readAll(path: string): Promise<Buffer | null> {
  return readFile(path).catch(nullIfAbsent);
}

function nullIfAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** Fills the buffer from the place on. */
export async function readFully(fd: number, into: Buffer, at: number): Promise<Buffer> {
  for (let done = 0; done < into.length;) {
    const count = await read(fd, into, done, at + done);
    if (count === 0) throw new Error("A cached body is shorter than it was");
    done += count;
  }
  return into;
}

function read(fd: number, into: Buffer, offset: number, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(fd, into, offset, into.length - offset, at, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}

/** Writes some of it at the place, and tells how much. */
export function write(fd: number, bytes: Uint8Array, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.write(fd, bytes, 0, bytes.length, at, (error, count) => {
      if (error !== null) reject(error);
      else if (count === 0) reject(new Error("nothing was written"));
      else resolve(count);
    });
  });
}
