/** The order in which the thread takes up what it is given. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { on } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { MOST_LANES } from "#kit/md5-lanes.ts";
import { HashSlabs, SLAB_OCTETS } from "./hash-slabs.ts";
import type { HashReply, HashRequest } from "./hashing-thread.ts";

const PIECES = 4;

test("a body that has ended is not kept waiting by others that always have more", async () => {
  const { memory } = new HashSlabs();
  const file = new URL("./hashing-thread.ts", import.meta.url);
  const thread = new Worker(file, { workerData: { memory } });
  try {
    const heard = on(thread, "message") as AsyncIterable<[HashReply]>;
    let slab = 0;
    const post = (body: number, length: number, isLast: boolean) =>
      thread.postMessage({
        body,
        algorithms: ["md5"],
        next: { slab: slab++, length, isLast },
      } satisfies HashRequest);
    // All is there before the thread has started.
    for (let piece = 0; piece < PIECES; piece++) {
      for (let body = 1; body <= MOST_LANES; body++) post(body, SLAB_OCTETS, false);
    }
    const last = MOST_LANES + 1;
    post(last, 0, true);
    const replies: HashReply[] = [];
    for await (const [reply] of heard) {
      replies.push(reply);
      if (reply.digests.length > 0) break;
    }
    assert.deepEqual(replies.at(-1)!.digests, [{ body: last, values: [hash("md5", "")] }]);
    const before = replies.slice(0, -1).flatMap(({ slabs }) => slabs);
    assert.ok(before.length <= MOST_LANES, `${before.length} pieces of others were taken first`);
  } finally {
    await thread.terminate();
  }
});
