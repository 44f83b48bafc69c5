/** The object store on its database and blobs, with its figures and its work in the background. */
import type { Database } from "#db";
import type { Generations } from "#kit/generations.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import { openBlobs } from "#objects";
import type { Config } from "./config.ts";
import { MeteredObjects } from "./metered-objects.ts";

export interface ObjectParts {
  readonly db: Database;
  /** Moved with what all threads of the process must see at once. */
  readonly generations: Generations;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

export async function startObjects(
  { blobsUrl, dataDir }: Config,
  { db, generations, log: whole, metrics, now }: ObjectParts,
  started: AsyncDisposableStack,
): Promise<MeteredObjects> {
  const log = whole.with({ part: "objects" });
  if (db.shared && blobsUrl.startsWith("file:")) {
    const warning =
      "blobs are in files of this node: others that share its database need --blobs s3://…";
    log.warn("setting", { warning });
  }
  const blobs = started.use(await openBlobs({ url: blobsUrl, dataDir, environment: process.env }));
  const objects = started.use(new MeteredObjects({ db, blobs, generations, now }, metrics));
  objects.startSweeping({
    onError: (cause) => log.warn("sweep failed", { cause }),
    onSwept: (swept) => objects.noteSwept(swept),
  });
  objects.startLifecycle({
    onError: (cause) => log.warn("lifecycle rules not carried out", { cause }),
    onDone: (done) => objects.noteCarriedOut(done),
  });
  return objects;
}
