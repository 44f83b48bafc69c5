/** The S3 API: before the object store on the main thread, or on threads of its own. */
import type { S3Keys } from "#accounts";
import type { Database } from "#db";
import type { HostPort } from "#kit/address.ts";
import type { Generations } from "#kit/generations.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { ObjectStore } from "#objects";
import { S3Figures } from "#s3";
import type { Config } from "./config.ts";
import { listenS3 } from "./s3-listener.ts";
import { startS3Threads } from "./s3-threads.ts";

export interface S3PartsOfPlatform {
  readonly db: Database;
  readonly sealKey: Uint8Array;
  readonly objects: ObjectStore;
  readonly s3Keys: S3Keys;
  readonly generations: Generations;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** Null where it is off. */
export async function startS3(
  config: Config,
  { db, sealKey, objects, s3Keys, generations, log, metrics, now }: S3PartsOfPlatform,
  started: AsyncDisposableStack,
): Promise<HostPort | null> {
  const { httpLimits: limits } = config;
  const { s3: address } = config.listen;
  if (address === null) return null;
  const { threads, domains, trustedProxies } = config.s3;
  const figures = new S3Figures(metrics); // What threads count is shown under the same names.
  const door = started.use(
    threads === 0
      ? await listenS3({ address, ...config.s3, limits, store: objects, s3Keys, figures, log, now })
      : await startS3Threads({
          address,
          threads,
          settings: { domains, trustedProxies, limits, sealKey, ...groundOf(config) },
          db,
          objects,
          generations,
          log: log.with({ door: "s3" }),
          metrics,
        }),
  );
  metrics.gauge(
    "selvedge_s3_connections",
    "Open connections to the S3 API.",
    () => door.connections,
  );
  return door.address;
}

function groundOf({ dataDir, databaseUrl, blobsUrl, log }: Config) {
  return { dataDir, databaseUrl, blobsUrl, log };
}
