/** Builds every part from the config and starts it. */
import { hkdfSync } from "node:crypto";
import { isIP } from "node:net";
import { Accounts, Authenticator, Recent, S3Keys, Tokens } from "#accounts";
import { apiDoor, identifier, TailSessions, UploadBudget } from "#api";
import { apiAccess, storeDoor } from "#binding";
import { PurgeLog } from "#edge";
import { listenHttp } from "#http";
import { type HostPort, printHostPort } from "#kit/address.ts";
import { ranges } from "#kit/cidr.ts";
import { Generations } from "#kit/generations.ts";
import type { Log } from "#kit/log.ts";
import { Metrics } from "#kit/metrics.ts";
import { addProcessMetrics } from "#kit/process-metrics.ts";
import { WindowLimit } from "#kit/window-limit.ts";
import { dohHandler, type Nameserver, startNameserver } from "#nameserver";
import { Records, Zones } from "#zones";
import type { Config } from "./config.ts";
import { openGround } from "./ground.ts";
import { openLedger } from "./start-cache.ts";
import { startCertificates } from "./start-certificates.ts";
import { startEdge } from "./start-edge.ts";
import { startEvents } from "./start-events.ts";
import { startObjects } from "./start-objects.ts";
import { startPublicBuckets } from "./start-public-buckets.ts";
import { startS3 } from "./start-s3.ts";
import { startScripts } from "./start-scripts.ts";

export interface Platform extends AsyncDisposable {
  /** Where each door listens, as the ready line shows it. */
  readonly doors: Readonly<Record<string, string>>;
}

/** In the order of the ready line. */
const DOORS: readonly string[] = ["api", "dns", "dns_tls", "s3", "edge", "edge_tls"];

/** Addresses and identities that limits remember; each takes some hundred bytes. */
const LIMIT_KEYS = 100_000;

/** The key of SipHash. */
const COOKIE_SECRET_OCTETS = 16;

export async function startPlatform(
  config: Config,
  log: Log,
  /** Hears where a first start has put its credentials. */
  onFirstStart: (credentialsPath: string) => void,
): Promise<Platform> {
  await using started = new AsyncDisposableStack(); // If a step fails, closes those before it.
  const now = Date.now;
  const metrics = new Metrics();
  addProcessMetrics(metrics);

  const { db, sealKey, migrated, credentialsPath } = started.use(
    await openGround({
      ...config,
      now,
      onError: (cause) => log.warn("database connection lost", { cause }),
    }),
  );
  if (migrated > 0) log.info("database migrated", { steps: migrated, engine: db.engine });
  if (credentialsPath !== null) onFirstStart(credentialsPath);
  const generations = new Generations();
  const recent = new Recent(now, generations);
  const accounts = new Accounts(db, recent, now);
  const tokens = new Tokens(db, recent, now, config.tokensPerOwner);
  const authenticator = started.use(
    new Authenticator({
      db,
      recent,
      now,
      failures: limitOf(config.authFailures),
      onLostNote: (cause) => log.warn("time of a token's last use not kept", { cause }),
    }),
  );
  const s3Keys = started.use(
    new S3Keys({
      db,
      recent,
      sealKey,
      now,
      onLostNote: (cause) => log.warn("time of an S3 key's last use not kept", { cause }),
    }),
  );

  const zones = new Zones(db, now);
  const records = new Records({
    db,
    zones,
    now,
    mostRecords: config.recordsPerZone,
    platform: ranges([...config.platformNetworks, ...edgeAddresses(config)]),
    nameservers: config.nameservers,
  });

  const objects = await startObjects(config, { db, generations, log, metrics, now }, started);

  const ledger = openLedger(config, log);
  const scripts = await startScripts(
    config,
    { db, sealKey, zones, objects, ledger, log, metrics, now },
    started,
  );

  const notifications = startEvents(
    config,
    { db, sealKey, objects, ...scripts, log, metrics, now },
    started,
  );

  const { sockets, lent } = scripts;
  const publicBuckets = await startPublicBuckets(
    { db, zones, objects, lent, sockets, log, now },
    started,
  );

  const purges = await PurgeLog.open(db);
  started.use(await purges.follow(log.with({ part: "cache" })));

  const doors: Record<string, string> = {};
  const nameserver = await startDns(config, { zones, records, sealKey, log, metrics, now });
  if (nameserver !== null) {
    started.use(nameserver);
    doors["dns"] = printHostPort(nameserver.address);
    if (nameserver.tlsAddress !== null) doors["dns_tls"] = printHostPort(nameserver.tlsAddress);
  }
  const certificateParts = { db, sealKey, zones, records, log, metrics, now };
  const certificates = await startCertificates(config, certificateParts, started);
  started.use(await zones.followOthers({ log: log.with({ part: "zones" }) }));

  const trustedProxies = config.trustedProxies.length > 0 ? ranges(config.trustedProxies) : null;
  const edge = await startEdge(
    config,
    {
      sealKey,
      zones,
      records,
      scripts,
      certificates,
      purges,
      ledger,
      publicBuckets,
      edgeAddresses: edgeAddresses(config),
      log,
      metrics,
      now,
    },
    started,
  );
  if (edge.http !== null) doors["edge"] = webAddress("http", edge.http);
  if (edge.https !== null) doors["edge_tls"] = webAddress("https", edge.https);
  const s3Parts = { db, sealKey, objects, s3Keys, generations, log, metrics, now };
  const s3 = await startS3(config, s3Parts, started);
  if (s3 !== null) doors["s3"] = webAddress("http", s3);
  if (config.listen.api !== null) {
    const turnedAway = metrics.counter(
      "selvedge_api_connections_refused_total",
      "Connections over a limit.",
    );
    const door = started.use(
      await listenHttp({
        address: config.listen.api,
        flag: "--api",
        limits: config.httpLimits,
        unlimited: trustedProxies,
        ...apiDoor({
          parts: {
            accounts,
            tokens,
            s3Keys,
            authenticator,
            zones,
            records,
            objects,
            bucketDomains: publicBuckets.domains,
            notifications,
            ...scripts,
            tails: new TailSessions(now),
            purges,
            certificates,
            s3Host: s3 === null ? "" : printHostPort(s3),
            scriptsHost: scriptsHost(config, doors["edge"]),
            nameservers: config.nameservers,
            now,
          },
          runtime: scripts.runtime,
          log: log.with({ door: "api" }),
          metrics,
          now,
          bodyBytes: config.apiBodyBytes,
          uploads: new UploadBudget(config.scripts.bytes),
          trustedProxies,
          requestLimit: limitOf(config.requests),
          checkReady: () => db.ping(),
          dnsQuery: nameserver && dohHandler({ respond: nameserver.respond, trustedProxies }),
          store: storeDoor({
            store: objects,
            authorize: apiAccess({
              identify: identifier(authenticator, trustedProxies),
              accounts,
              store: objects,
            }),
          }),
        }),
        onTurnedAway: () => turnedAway.count(),
      }),
    );
    metrics.gauge(
      "selvedge_api_connections",
      "Open connections to the management API.",
      () => door.connections,
    );
    doors["api"] = webAddress("http", door.address);
  }
  const all = started.move(); // All is up: the caller now holds the whole stack.
  const inOrder = DOORS.filter((door) => door in doors).map((door) => [door, doors[door]!]);
  const shown = Object.fromEntries(inOrder) as Platform["doors"];
  return { doors: shown, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

interface DnsParts {
  readonly zones: Zones;
  readonly records: Records;
  readonly sealKey: Uint8Array;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

async function startDns(
  config: Config,
  { sealKey, log, ...parts }: DnsParts,
): Promise<Nameserver | null> {
  const { listen, dns, nameservers, resolvers, dnsThreads } = config;
  if (listen.dns === null) return null;
  return startNameserver({
    ...parts,
    ...dns,
    log: log.with({ door: "dns" }),
    address: listen.dns,
    tlsAddress: listen.dnsTls,
    dataDir: config.dataDir,
    threads: dnsThreads,
    facts: { nameservers, edgeAddresses: edgeAddresses(config), edgeProtocols: ["h2"] },
    resolvers,
    // All nodes of an installation share the key, and so the cookies that it makes.
    cookieSecret: new Uint8Array(
      hkdfSync("sha256", sealKey, "", "dns cookies", COOKIE_SECRET_OCTETS),
    ),
  });
}

function limitOf({
  quota,
  windowSeconds,
}: {
  quota: number;
  windowSeconds: number;
}): WindowLimit | null {
  return quota === 0 ? null : new WindowLimit({ quota, windowSeconds, keys: LIMIT_KEYS });
}

/** What proxied names answer: as configured, else the address that the edge listens on. */
function edgeAddresses({ edgeAddresses, listen }: Config): readonly string[] {
  if (edgeAddresses.length > 0) return edgeAddresses;
  return listen.edge !== null && isIP(listen.edge.host) !== 0 ? [listen.edge.host] : [];
}

/** Where scripts answer beside their routes, as it is shown. */
function scriptsHost({ scriptsDomain }: Config, edge: string | undefined): string {
  const port = edge === undefined ? "" : new URL(edge).port;
  return port === "" ? scriptsDomain : `${scriptsDomain}:${port}`;
}

function webAddress(scheme: string, address: HostPort): string {
  return `${scheme}://${printHostPort(address)}`;
}
