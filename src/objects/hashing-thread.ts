/** The thread that hashes large bodies. Octets come in memory that both threads see, and are never copied here. */
import { parentPort, workerData } from "node:worker_threads";
import { beginDigest, type Digest } from "./digest.ts";
import type { Algorithm } from "./model.ts";

/** A stretch of a body, in the slab of that number; or its end, or that no more of it comes. */
export interface HashRequest {
  readonly body: number;
  readonly algorithms: readonly Algorithm[];
  readonly next: { readonly slab: number; readonly length: number } | "end" | "never mind";
}

/** That the slab is free again; or the digests of a body, in the order of its algorithms. */
export type HashReply =
  | { readonly slab: number }
  | { readonly body: number; readonly digests: readonly string[] };

const port = parentPort!;
const { slabs } = workerData as { slabs: readonly Uint8Array[] };
const bodies = new Map<number, readonly Digest[]>();

port.on("message", ({ body, algorithms, next }: HashRequest) => {
  let hashes = bodies.get(body);
  if (hashes === undefined) bodies.set(body, (hashes = algorithms.map(beginDigest)));
  if (typeof next === "object") {
    const octets = slabs[next.slab]!.subarray(0, next.length);
    for (const hash of hashes) hash.update(octets);
    port.postMessage({ slab: next.slab } satisfies HashReply);
    return;
  }
  bodies.delete(body);
  if (next === "never mind") return;
  const digests = hashes.map((hash) => hash.digest());
  port.postMessage({ body, digests } satisfies HashReply);
});
