/** A process with Miniflare and its bucket simulator, asked through the proxy that programs get. */
import { fill, type LoopBucket, runLoop } from "../../kit/objects-loop.ts";
import { serveSubject } from "../../kit/objects-process.ts";
import { BUCKET, startMiniflare } from "./start.ts";

serveSubject(async (data) => {
  const miniflare = await startMiniflare(data);
  const bucket = (await miniflare.getR2Bucket(BUCKET)) as LoopBucket;
  return {
    fill: (job) => fill(bucket, job),
    // Its streams are faster than its whole bodies, whatever the size.
    loop: (job) => runLoop(bucket, job, { wholeOctets: 0 }),
  };
});
