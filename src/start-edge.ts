/** The edge: its threads before the names, scripts and origins that they serve. */
import { hkdfSync } from "node:crypto";
import type { Certificates } from "#certificates";
import {
  type DiskLedger,
  FactSource,
  ProxiedNames,
  type PurgeLog,
  startEdgeThreads,
  TOPIC,
} from "#edge";
import type { HostPort } from "#kit/address.ts";
import { Generations } from "#kit/generations.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { Records, Zones } from "#zones";
import type { Config } from "./config.ts";
import { cacheFolder, largestBody } from "./start-cache.ts";
import type { PublicBuckets } from "./start-public-buckets.ts";
import type { StartedScripts } from "./start-scripts.ts";

export interface EdgeParts {
  readonly sealKey: Uint8Array;
  readonly zones: Zones;
  readonly records: Records;
  readonly scripts: StartedScripts;
  readonly certificates: Certificates;
  readonly purges: PurgeLog;
  readonly ledger: DiskLedger;
  readonly publicBuckets: PublicBuckets;
  /** What proxied names answer. */
  readonly edgeAddresses: readonly string[];
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

export interface StartedEdge {
  readonly http: HostPort | null;
  readonly https: HostPort | null;
}

const LOOP_MARK_OCTETS = 6;
const MIB = 1024 ** 2;

export async function startEdge(
  config: Config,
  parts: EdgeParts,
  started: AsyncDisposableStack,
): Promise<StartedEdge> {
  const { edge: http, edgeTls: https } = config.listen;
  if (http === null && https === null) return { http, https };
  const { scripts, purges, ledger, log, metrics } = parts;
  const generations = new Generations();
  const threads = started.use(
    await startEdgeThreads({
      addresses: { http, https },
      threads: config.edgeThreads,
      settings: threadSettings(config, parts),
      generations,
      facts: await followFacts(config, parts, generations),
      openScript: (scriptId, connectionLost) => scripts.runtime.open(scriptId, connectionLost),
      takeLent: (name, owner) => scripts.lent.take(name, owner),
      ledger,
      purges,
      log: log.with({ door: "edge" }),
      metrics,
    }),
  );
  return threads.addresses;
}

/** What threads know is asked for again as soon as one of the parts has changed it. */
async function followFacts(
  { scriptsDomain }: Config,
  {
    zones,
    records,
    scripts: { scripts, routes, runtime },
    certificates,
    publicBuckets,
    now,
  }: EdgeParts,
  generations: Generations,
): Promise<FactSource> {
  const { domains } = publicBuckets;
  const names = new ProxiedNames({ recordsAt: (zone, name) => records.at(zone, name) });
  const facts = new FactSource({
    generations,
    names,
    routesOf: (zoneId) => routes.ofZone(zoneId),
    ownScript: ownScripts(scripts, scriptsDomain),
    isBucket: (hostname, zoneId) => domains.at(hostname)?.zoneId === zoneId,
    certificateFor: (hostname) => certificates.forHost(hostname),
    now,
  });
  const scriptsMoved = () => generations.moved(TOPIC.scripts);
  const certificatesMoved = () => generations.moved(TOPIC.certificates);
  names.load(await zones.follow(facts));
  routes.follow((zoneId) => (zoneId === null ? generations.allMoved() : generations.moved(zoneId)));
  scripts.follow({ changed: scriptsMoved, removed: scriptsMoved, relabelled: scriptsMoved });
  domains.follow(() => generations.moved(TOPIC.buckets));
  runtime.followPlaces((scriptId) => generations.moved(scriptId));
  certificates.follow({
    changed: certificatesMoved,
    removed: certificatesMoved,
    optOutsChanged: certificatesMoved,
  });
  return facts;
}

/** Names that scripts have without a zone: NAME.SUBDOMAIN under one domain. */
function ownScripts(scripts: StartedScripts["scripts"], domain: string) {
  const suffix = `.${domain}`;
  return (hostname: string) => {
    if (!hostname.endsWith(suffix)) return null;
    const [name, label, ...more] = hostname.slice(0, -suffix.length).split(".");
    return label === undefined || more.length > 0 ? null : scripts.onSubdomain(label, name!);
  };
}

function threadSettings(config: Config, { sealKey, edgeAddresses, publicBuckets }: EdgeParts) {
  const { httpLimits, trustedProxies, scriptsDomain, resolvers, origins, edgeThreads } = config;
  const { memoryMib, diskMib } = config.cache;
  // All nodes of an installation know each other's by it, and nobody else's.
  const mark = Buffer.from(hkdfSync("sha256", sealKey, "", "cdn loop", LOOP_MARK_OCTETS));
  return {
    limits: httpLimits,
    fallbackName: scriptsDomain,
    trustedProxies,
    bucketSocket: publicBuckets.socketPath,
    log: config.log,
    cache: {
      memoryOctets: Math.floor((memoryMib * MIB) / edgeThreads),
      folder: diskMib === 0 ? null : cacheFolder(config),
      objectOctets: largestBody(config),
    },
    origins: {
      resolvers,
      allowed: origins,
      answerMs: config.originSeconds * 1000,
      loopMark: `selvedge-${mark.toString("hex")}`,
      edgeAddresses,
    },
  };
}
