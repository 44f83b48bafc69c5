/** The S3 API's listener, on the main thread or on one of its own. */
import type { S3Keys } from "#accounts";
import { type HttpLimits, type HttpListener, listenHttp, type SharedConnections } from "#http";
import type { HostPort } from "#kit/address.ts";
import { ranges } from "#kit/cidr.ts";
import type { Log } from "#kit/log.ts";
import type { ObjectStore } from "#objects";
import { Authentication, s3Door, type S3Figures } from "#s3";

export interface S3ListenerOptions {
  readonly address: HostPort;
  readonly domains: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly limits: HttpLimits;
  readonly store: ObjectStore;
  readonly s3Keys: S3Keys;
  readonly figures: S3Figures;
  readonly log: Log;
  readonly now: () => number;
  /** Where several threads listen: what they count, and whether there are others. */
  readonly connections?: SharedConnections;
  readonly sharesAddress?: boolean;
}

export function listenS3(options: S3ListenerOptions): Promise<HttpListener> {
  const { address, limits, store, s3Keys, figures, log, now, connections } = options;
  const trustedProxies = options.trustedProxies.length > 0 ? ranges(options.trustedProxies) : null;
  return listenHttp({
    address,
    flag: "--s3",
    limits,
    unlimited: trustedProxies,
    asksForBodies: true,
    sharesAddress: options.sharesAddress ?? false,
    ...(connections && { connections }),
    ...s3Door({
      store,
      authentication: new Authentication({
        find: (accessKeyId) => s3Keys.find(accessKeyId),
        onUse: (key) => s3Keys.noteUse(key),
        now,
      }),
      domains: options.domains,
      trustedProxies,
      log: log.with({ door: "s3" }),
      figures,
      now,
    }),
    onTurnedAway: () => figures.turnedAway.count(),
  });
}
