/** The edge: its listeners before the names, scripts and origins that it serves. */
import { hkdfSync } from "node:crypto";
import { join } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Certificates, ServedCertificate } from "#certificates";
import {
  Cache,
  CachedOrigin,
  DiskLedger,
  DiskStore,
  edgeDoor,
  type EdgeOptions,
  observer,
  OriginNames,
  OriginPool,
  OriginProxy,
  ProxiedNames,
  type PurgeLog,
  type ScriptRoutes,
} from "#edge";
import { listenHttp, type TlsOptions } from "#http";
import type { HostPort } from "#kit/address.ts";
import { type Ranges, ranges } from "#kit/cidr.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { Records, Zones } from "#zones";
import type { Config } from "./config.ts";
import type { StartedScripts } from "./start-scripts.ts";

export interface EdgeParts {
  readonly sealKey: Uint8Array;
  readonly zones: Zones;
  readonly records: Records;
  readonly scripts: StartedScripts;
  readonly certificates: Certificates;
  readonly purges: PurgeLog;
  /** What proxied names answer. */
  readonly edgeAddresses: readonly string[];
  readonly trustedProxies: Ranges | null;
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
  const { edge, edgeTls } = config.listen;
  if (edge === null && edgeTls === null) return { http: null, https: null };
  const { zones, records, scripts, log, metrics } = parts;
  const names = new ProxiedNames({ recordsAt: (zone, name) => records.at(zone, name) });
  names.load(await zones.follow(names));
  const edgeLog = log.with({ door: "edge" });
  const refused = metrics.counter(
    "selvedge_edge_connections_refused_total",
    "Connections over a limit.",
  );
  const common = {
    names,
    routes: scriptRoutes(scripts, config.scriptsDomain),
    openScript: (scriptId: string) => scripts.runtime.open(scriptId),
    origins: new CachedOrigin({
      origins: originProxy(config, parts, names, started),
      cache: await openCache(config, parts),
      now: parts.now,
    }),
    trustedProxies: parts.trustedProxies,
    log: edgeLog,
    observe: observer({ log: edgeLog, metrics }),
  };
  const listen = async (address: HostPort, flag: string, options: EdgeOptions, tls?: TlsOptions) =>
    started.use(
      await listenHttp({
        address,
        flag,
        limits: config.httpLimits,
        unlimited: parts.trustedProxies,
        ...edgeDoor(options),
        ...(tls && { tls }),
        onTurnedAway: () => refused.count(),
      }),
    );
  const https =
    edgeTls === null
      ? null
      : await listen(
          edgeTls,
          "--edge-tls",
          { ...common, scheme: "https", httpsPort: null },
          tlsOf(parts.certificates, config.scriptsDomain),
        );
  const httpsPort = https?.address.port ?? null;
  const http =
    edge === null ? null : await listen(edge, "--edge", { ...common, scheme: "http", httpsPort });
  metrics.gauge(
    "selvedge_edge_connections",
    "Open connections to the edge.",
    () => (http?.connections ?? 0) + (https?.connections ?? 0),
  );
  return { http: http?.address ?? null, https: https?.address ?? null };
}

/** A body that takes more than a sixteenth of the disk's share would drive out too many others. */
const LARGEST_SHARE = 16;
/** The longest that one request waits for what another has asked for. */
const WAIT_MS = 10_000;

async function openCache(
  { dataDir, cache: { memoryMib, diskMib } }: Config,
  { purges, log: whole, now }: EdgeParts,
): Promise<Cache> {
  const log = whole.with({ part: "cache" });
  const onError = (cause: Error) => log.warn("cache", { cause });
  const folder = join(dataDir, "cache");
  const limitOctets = diskMib * MIB;
  const ledger = new DiskLedger({ folder, limitOctets, onError });
  const disk = diskMib === 0 ? null : await DiskStore.open(folder, ledger);
  // What earlier runs have left counts, and is used, as soon as it is found.
  if (disk !== null) void ledger.load().catch(onError);
  return new Cache({
    memoryOctets: memoryMib * MIB,
    disk,
    purges: purges.rules,
    objectOctets: limitOctets / LARGEST_SHARE,
    waitMs: WAIT_MS,
    now,
    onError,
    onForgotten: () => {},
  });
}

function originProxy(
  { resolvers, origins, originSeconds }: Config,
  { sealKey, edgeAddresses, now }: EdgeParts,
  names: ProxiedNames,
  started: AsyncDisposableStack,
): OriginProxy {
  const outside = new OriginNames({ resolvers, now });
  const edge = ranges(edgeAddresses);
  // All nodes of an installation know each other's by it, and nobody else's.
  const mark = Buffer.from(hkdfSync("sha256", sealKey, "", "cdn loop", LOOP_MARK_OCTETS));
  return new OriginProxy({
    inZones: (name) => names.recordsOf(name),
    outside: (name) => outside.addresses(name),
    allowed: ranges(origins),
    answerMs: originSeconds * 1000,
    pool: started.use(new OriginPool({ now })),
    loopMark: `selvedge-${mark.toString("hex")}`,
    isEdge: (address) => edge.has(address),
  });
}

/** Contexts are kept as long as the certificates that they are made of. */
function tlsOf(certificates: Certificates, fallbackName: string): TlsOptions {
  const contexts = new WeakMap<ServedCertificate, SecureContext>();
  const contextFor = (hostname: string) => {
    const served = certificates.forHost(hostname);
    if (served === null) return null;
    let context = contexts.get(served);
    if (context === undefined) {
      context = createSecureContext({ cert: served.cert, key: served.key });
      contexts.set(served, context);
    }
    return context;
  };
  return { contextFor, fallback: () => contextFor(fallbackName) };
}

/** The routes of zones, and the names that scripts have without a zone: NAME.SUBDOMAIN under one domain. */
function scriptRoutes({ routes, scripts }: StartedScripts, domain: string): ScriptRoutes {
  const suffix = `.${domain}`;
  return {
    match: (zoneId, hostname, target, scheme) => routes.match(zoneId, hostname, target, scheme),
    ownHost(hostname) {
      if (!hostname.endsWith(suffix)) return null;
      const [name, label, ...more] = hostname.slice(0, -suffix.length).split(".");
      return label === undefined || more.length > 0 ? null : scripts.onSubdomain(label, name!);
    },
  };
}
