/** The memory that a large upload takes. */
import { setTimeout as sleep } from "node:timers/promises";
import type { StoreBucket } from "../../src/store.ts";
import type { Figures } from "./bench.ts";
import { memoryOf } from "./memory.ts";

/** As a socket gives them. */
const CHUNK_OCTETS = 64 * 1024;

/** An object of up to 5 GiB less 5 MiB may be one put; larger ones must be parts. */
const PART_OCTETS = 64 * 1024 ** 2;

const LOOK_MS = 20;

/** Stores octets that are made as they are asked for, in parts, and watches this process. */
export async function upload(bucket: StoreBucket, octets: number): Promise<Figures> {
  await sleep(1_000);
  const idle = memoryOf(process.pid).rssMiB;
  let peak = idle;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss() / 1024 ** 2);
  }, LOOK_MS);
  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  const upload = await bucket.createMultipartUpload("upload");
  const parts = [];
  for (let at = 0; at < octets; at += PART_OCTETS) {
    const size = Math.min(PART_OCTETS, octets - at);
    parts.push(await upload.uploadPart(parts.length + 1, made(size)));
  }
  const { size } = await upload.complete(parts);
  if (size !== octets) throw new Error(`Of ${octets} octets, ${size} were stored`);
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  clearInterval(timer);
  await bucket.delete("upload");
  return {
    idleMiB: idle,
    peakMiB: peak,
    grownMiB: peak - idle,
    mibPerSecond: octets / 1024 ** 2 / seconds,
    cpuSecondsPerGiB: (user + system) / 1e6 / (octets / 1024 ** 3),
  };
}

/** A new chunk each time: one that is used again would hide what is held on to. */
function made(octets: number): ReadableStream<Uint8Array> {
  let left = octets;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const chunk = new Uint8Array(Math.min(CHUNK_OCTETS, left));
      chunk.fill(left & 0xff);
      left -= chunk.length;
      controller.enqueue(chunk);
      if (left === 0) controller.close();
    },
  });
}
