/** Buckets under hostnames of zones: which they are, and the socket by which the edge reaches them. */
import { join } from "node:path";
import type { LentBodies } from "#binding";
import type { Database } from "#db";
import { listenUnixSocket } from "#http";
import type { Log } from "#kit/log.ts";
import { BucketDomains, type ObjectStore } from "#objects";
import { publicBucketDoor } from "#s3";
import type { Zones } from "#zones";

export interface PublicBucketParts {
  readonly db: Database;
  readonly zones: Zones;
  readonly objects: ObjectStore;
  /** Where the edge takes large objects from. */
  readonly lent: LentBodies;
  /** The folder for sockets. */
  readonly sockets: string;
  readonly log: Log;
  readonly now: () => number;
}

export interface PublicBuckets {
  readonly domains: BucketDomains;
  readonly socketPath: string;
}

export async function startPublicBuckets(
  { db, zones, objects, lent, sockets, log: whole, now }: PublicBucketParts,
  started: AsyncDisposableStack,
): Promise<PublicBuckets> {
  const log = whole.with({ part: "public buckets" });
  const domains = await BucketDomains.open(db);
  const onLost = (cause: unknown) => log.warn("domains of buckets not read again", { cause });
  objects.onBucketRemoved(() => domains.removed().catch(onLost));
  await zones.follow({
    changed: () => {},
    removed: () => void domains.removed().catch(onLost),
  });
  started.use(await domains.followOthers(log));
  const socketPath = join(sockets, "buckets");
  const handle = publicBucketDoor({
    store: objects,
    lend(bucket, found) {
      const loan = lent.lend(bucket, found, null);
      loan?.linger();
      return loan?.name ?? null;
    },
    domainAt: (hostname) => domains.at(hostname),
    log,
    now,
  });
  const onError = (cause: unknown) => log.error("answer failed", { cause });
  started.use(await listenUnixSocket({ path: socketPath, handle, onError }));
  return { domains, socketPath };
}
