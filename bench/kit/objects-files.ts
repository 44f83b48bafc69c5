/** Plain files as if they were a bucket: what reading and writing them costs without a store. */
import * as fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LoopBucket } from "./objects-loop.ts";

/** As many as our own store reads at once. */
const CHUNK_OCTETS = 512 * 1024;

const [open, close, write, sync] = [fs.open, fs.close, fs.write, fs.fdatasync].map((call) =>
  promisify(call as never),
) as unknown as [Open, Close, Write, Close];
type Open = (path: string, flags: string) => Promise<number>;
type Close = (fd: number) => Promise<void>;
type Write = (fd: number, octets: Uint8Array, at: number, length: number) => Promise<void>;

/** Files by their keys: read as streams of Node, written and synced. */
export function filesIn(data: string): LoopBucket {
  const pathOf = (key: string) => join(data, key.replaceAll("/", "-"));
  return {
    async get(key) {
      const stream = fs.createReadStream(pathOf(key), { highWaterMark: CHUNK_OCTETS });
      return { body: stream as unknown as ReadableStream<Uint8Array>, arrayBuffer: unused };
    },
    async put(key, value) {
      const fd = await open(pathOf(key), "w");
      await write(fd, value, 0, value.length);
      await sync(fd);
      await close(fd);
    },
    head: unused,
    list: unused,
  };
}

function unused(): never {
  throw new Error("The disk is not asked for this");
}
