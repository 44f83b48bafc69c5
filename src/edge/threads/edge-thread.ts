/** A thread of the edge: it has the listeners, the cache and the connections to origins and scripts to itself. */
import { parentPort, workerData } from "node:worker_threads";
import { type HttpListener, listenHttp, SharedConnections, type TlsOptions, Upstream } from "#http";
import type { HostPort } from "#kit/address.ts";
import { ranges } from "#kit/cidr.ts";
import { Generations } from "#kit/generations.ts";
import { Log } from "#kit/log.ts";
import { settleMemory } from "#kit/settle-memory.ts";
import { ZoneRoutes } from "#scripts/on-threads";
import { CacheCounts } from "../cache/cache-counts.ts";
import { Cache } from "../cache/cache.ts";
import { DiskStore } from "../cache/disk-store.ts";
import { ledgerThrough } from "../cache/ledger-port.ts";
import { PurgeRules } from "../cache/purge-rules.ts";
import { CachedOrigin } from "../cached-origin.ts";
import type { ServedZone } from "../destination.ts";
import { edgeDoor, type EdgeOptions } from "../edge-door.ts";
import { FactCache } from "../facts/fact-cache.ts";
import { observer } from "../observe.ts";
import { OriginNames } from "../origin/origin-names.ts";
import { OriginPool } from "../origin/origin-pool.ts";
import { OriginProxy } from "../origin/origin-proxy.ts";
import { EdgeCounters } from "./counters.ts";
import { MainThread } from "./main-thread.ts";
import { takeLent } from "./lent-octets.ts";
import type { EdgeAddresses, EdgeThreadData, ToEdgeThread } from "./messages.ts";
import { ScriptPlaces } from "./script-places.ts";
import { TlsContexts } from "./tls-contexts.ts";

/** The longest that one request waits for what another has asked for. */
const WAIT_MS = 10_000;
/** Shorter than the main thread waits; it is on this machine, so what takes longer is stuck. */
const BUCKET_CONNECTIONS = { idleMs: 60_000, connectMs: 30_000, readsAtOnce: 0 };

const port = parentPort!;
const { thread, threads, seed, limits, ...data } = workerData as EdgeThreadData;
const now = Date.now;
const main = new MainThread(port);
const log = new Log({ ...data.log, now }).with({ door: "edge" });
const counters = new EdgeCounters(data.counters);
const generations = new Generations(data.generations);
const trustedProxies = data.trustedProxies.length > 0 ? ranges(data.trustedProxies) : null;
const purges = new PurgeRules(data.purgeFloor);
const cache = await openCache();
const pool = new OriginPool({ now });
const places = new ScriptPlaces({ main, generations, now });
const buckets = new Upstream({ target: { path: data.bucketSocket }, ...BUCKET_CONNECTIONS });
const contexts = new TlsContexts({ main, fallbackName: data.fallbackName, generations, now });
const door: Omit<EdgeOptions, "scheme" | "httpsPort"> = {
  hosts: new FactCache({ generations, now, ask: (hostname) => main.ask("host", hostname) }),
  zones: new FactCache({ generations, now, ask: askForZone }),
  openScript: (scriptId) => places.open(scriptId),
  takeLent: (name, owner) => takeLent(main, name, owner),
  buckets,
  origins: new CachedOrigin({ origins: originProxy(), cache, now }),
  trustedProxies,
  log,
  observe: observer({ log, counters }),
};
const listeners: HttpListener[] = [];

port.on("message", (message: ToEdgeThread) => hear(message));

function hear(message: ToEdgeThread): void {
  switch (message.kind) {
    case "answer":
      main.answered(message.ticket, message.value);
      break;
    case "refused":
      main.refused(message.ticket, message.why);
      break;
    case "purges":
      purges.add(message.purges);
      main.say({ kind: "taken", ticket: message.ticket });
      break;
    case "forget":
      cache.forget(message.keys);
      break;
    case "ticket keys":
      for (const listener of listeners) listener.setTicketKeys(message.ticketKeys);
      break;
    case "listen":
      void start(message.addresses);
      break;
    case "stop":
      void stop();
  }
}

/** HTTP needs to know where HTTPS is. */
async function start({ http, https }: EdgeAddresses): Promise<void> {
  try {
    const secure = https && (await listen(https, "https", null));
    const plain = http && (await listen(http, "http", secure?.port ?? null));
    main.say({ kind: "listening", addresses: { http: plain, https: secure } });
    settleMemory();
  } catch (error) {
    main.say({ kind: "not listening", message: (error as Error).message });
    process.exit(); // Ends this thread only.
  }
}

async function listen(
  address: HostPort,
  scheme: "http" | "https",
  httpsPort: number | null,
): Promise<HostPort> {
  const tls: TlsOptions = {
    contextFor: (hostname) => contexts.of(hostname),
    fallback: () => contexts.fallback(),
    ticketKeys: data.ticketKeys,
  };
  const listener: HttpListener = await listenHttp({
    address,
    sharesAddress: threads > 1,
    flag: scheme === "https" ? "--edge-tls" : "--edge",
    limits,
    unlimited: trustedProxies,
    connections: new SharedConnections(data.connections[scheme], thread, seed),
    ...edgeDoor({ ...door, scheme, httpsPort }),
    ...(scheme === "https" && { tls }),
    onTurnedAway: () => counters.turnAway(),
  });
  listeners.push(listener);
  return listener.address;
}

/** What is under way has its time. */
async function stop(): Promise<void> {
  await Promise.all(listeners.map((listener) => listener[Symbol.asyncDispose]()));
  pool[Symbol.dispose]();
  places[Symbol.dispose]();
  buckets[Symbol.dispose]();
  log.flush();
  process.exit();
}

async function openCache(): Promise<Cache> {
  const { folder, memoryOctets, objectOctets } = data.cache;
  const onError = (cause: Error) => log.warn("cache", { cause });
  return new Cache({
    counts: new CacheCounts(data.cacheCounts),
    memoryOctets,
    disk: folder === null ? null : await DiskStore.open(folder, ledgerThrough(data.ledger)),
    purges,
    objectOctets,
    waitMs: WAIT_MS,
    now,
    onError,
    onForgotten: (keys) => main.say({ kind: "forgotten", keys }),
  });
}

function originProxy(): OriginProxy {
  const { resolvers, allowed, answerMs, loopMark, edgeAddresses } = data.origins;
  const outside = new OriginNames({ resolvers, now });
  const edge = ranges(edgeAddresses);
  return new OriginProxy({
    outside: (name) => outside.addresses(name),
    allowed: ranges(allowed),
    answerMs,
    pool,
    loopMark,
    isEdge: (address) => edge.has(address),
  });
}

async function askForZone(name: string) {
  const { value, ...fact } = await main.ask("zone", name);
  const zone: ServedZone | null = value && { ...value, routes: new ZoneRoutes(value.routes) };
  return { ...fact, value: zone };
}
