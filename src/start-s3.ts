/** The S3 API: its listener before the object store. */
import type { S3Keys } from "#accounts";
import { listenHttp } from "#http";
import type { HostPort } from "#kit/address.ts";
import { ranges } from "#kit/cidr.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { ObjectStore } from "#objects";
import { Authentication, s3Door } from "#s3";
import type { Config } from "./config.ts";

export interface S3PartsOfPlatform {
  readonly objects: ObjectStore;
  readonly s3Keys: S3Keys;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** Null where it is off. */
export async function startS3(
  { listen: { s3: address }, s3, httpLimits }: Config,
  { objects, s3Keys, log, metrics, now }: S3PartsOfPlatform,
  started: AsyncDisposableStack,
): Promise<HostPort | null> {
  if (address === null) return null;
  const trustedProxies = s3.trustedProxies.length > 0 ? ranges(s3.trustedProxies) : null;
  const refused = metrics.counter(
    "selvedge_s3_connections_refused_total",
    "Connections over a limit.",
  );
  const door = started.use(
    await listenHttp({
      address,
      flag: "--s3",
      limits: httpLimits,
      unlimited: trustedProxies,
      asksForBodies: true,
      ...s3Door({
        store: objects,
        authentication: new Authentication({
          find: (accessKeyId) => s3Keys.find(accessKeyId),
          onUse: (key) => s3Keys.noteUse(key),
          now,
        }),
        domains: s3.domains,
        trustedProxies,
        log: log.with({ door: "s3" }),
        metrics,
        now,
      }),
      onTurnedAway: () => refused.count(),
    }),
  );
  metrics.gauge(
    "selvedge_s3_connections",
    "Open connections to the S3 API.",
    () => door.connections,
  );
  return door.address;
}
