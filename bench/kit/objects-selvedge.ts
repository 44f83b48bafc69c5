/** A process with an embedded store of ours. */
import { type EmbeddedStore, openStore, type StoreBucket } from "../../src/store.ts";
import type { Figures } from "./bench.ts";
import { filesIn } from "./objects-files.ts";
import { fill, type LoopBucket, type LoopJob, runLoop } from "./objects-loop.ts";
import { serveSubject, type Subject } from "./objects-process.ts";
import { upload } from "./objects-upload.ts";

const BUCKET = "bench";

serveSubject(async (data): Promise<Subject> => {
  const store: EmbeddedStore = await openStore({ data });
  const there = (await store.buckets()).some(({ name }) => name === BUCKET);
  const bucket: StoreBucket = there ? store.bucket(BUCKET) : await store.createBucket(BUCKET);
  const files = filesIn(data);
  const asked = (job: LoopJob) => (job.plain === true ? files : (bucket as unknown as LoopBucket));
  return {
    fill: (job, most) => fill(asked(job), job, most),
    loop: (job) => runLoop(asked(job), job, { wholeOctets: 1024 ** 2 }),
    upload: (octets): Promise<Figures> => upload(bucket, octets),
  };
});
