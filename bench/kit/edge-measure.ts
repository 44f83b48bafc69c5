/** Measures an edge: requests of each kind, handshakes, and what idle connections take. */
import { setTimeout as sleep } from "node:timers/promises";
import type { BenchContext, Figures } from "./bench.ts";
import type { Running } from "./contender.ts";
import { machineCpuSeconds } from "./cpu.ts";
import type { EdgeContender } from "./edge-launch.ts";
import { HOSTS, ORIGIN, PATHS, urlOf } from "./edge-site.ts";
import { type H2loadJob, h2loadOf, type Protocol } from "./h2load.ts";
import type { HandshakeJob } from "./handshake-load.ts";
import { requestText } from "./http-exchange.ts";
import type { HttpResult } from "./http-load.ts";
import type { IdleJob } from "./idle-load.ts";
import { startLoad } from "./load.ts";
import { pinTree, treeCpuSeconds, treeMemory } from "./process-tree.ts";

export interface EdgeWorkload {
  readonly key: string;
  readonly name: string;
  readonly kind: keyof typeof HOSTS;
  readonly size: keyof typeof PATHS;
  readonly protocol: Protocol;
  readonly atOnce: number;
}

/** Enough to keep one core busy without a pause, few enough that a queue is not all of p99. */
const AT_ONCE = 32;
/** Twice, for all servers: on one core V8 needs seconds to compile what a request passes. */
const WARM_UP_SECONDS = 2;
const IDLE_CONNECTIONS = 10_000;
/** To open them all, with TLS, on a slow machine; less than the servers keep an idle one. */
const OPENING_SECONDS = 50;
/** Time for what a start or a load leaves to do before memory is read. */
const SETTLE_SECONDS = 2;

export const ALONE = "alone";
export const HANDSHAKES = "handshakes";
export const idleKeys = { http: "idle http", https: "idle https" } as const;

export const edgeParameters = {
  atOnce: AT_ONCE,
  warmUpSeconds: WARM_UP_SECONDS,
  idleConnections: IDLE_CONNECTIONS,
  workers: 1,
} as const;

const labels = {
  proxied: "proxied",
  cached: "from the cache",
  small: "1 KiB",
  large: "1 MiB",
  http: "HTTP/1.1",
  https: "HTTP/1.1 over TLS",
  h2: "HTTP/2",
} as const;

export const workloads: readonly EdgeWorkload[] = [
  workload("proxied", "small", "http", 1),
  ...(["proxied", "cached"] as const).flatMap((kind) =>
    (["small", "large"] as const).flatMap((size) =>
      (["http", "https", "h2"] as const).map((protocol) => workload(kind, size, protocol, AT_ONCE)),
    ),
  ),
];

function workload(
  kind: EdgeWorkload["kind"],
  size: EdgeWorkload["size"],
  protocol: Protocol,
  atOnce: number,
): EdgeWorkload {
  const name = `${labels[size]} ${labels[kind]}, ${labels[protocol]}`;
  return atOnce === 1
    ? { key: ALONE, name: `${name}, one at a time`, kind, size, protocol, atOnce }
    : { key: name, name, kind, size, protocol, atOnce };
}

/** The figures of one server in one round, by what was measured. */
export type EdgeFigures = Readonly<Record<string, Figures>>;

/** `originPid` is that of the origin, whose use of a core is nobody else's disturbance. */
export async function measureEdge(
  context: BenchContext,
  contender: EdgeContender,
  originPid: number,
): Promise<EdgeFigures> {
  const figures: Record<string, Figures> = {};
  {
    await using server = await startPinned(context, contender);
    for (const workload of workloads) {
      context.note(`${contender.name}: ${workload.name}`);
      const measured = await measureWorkload(context, server, originPid, workload);
      if (workload.key !== ALONE) figures[workload.key] = measured;
      else figures[ALONE] = await withAdded(context, measured, jobOf(server, workload));
    }
    context.note(`${contender.name}: handshakes`);
    figures[HANDSHAKES] = await measureHandshakes(context, server, (load) =>
      measureLoad(context, server.pid, originPid, load),
    );
  }
  for (const scheme of ["http", "https"] as const) {
    context.note(`${contender.name}: idle connections, ${scheme}`);
    await using server = await startPinned(context, contender);
    figures[idleKeys[scheme]] = await measureIdle(context, server, scheme);
  }
  return figures;
}

export function measureWorkload(
  context: BenchContext,
  server: Running,
  originPid: number,
  workload: EdgeWorkload,
): Promise<Figures> {
  const load = h2loadOf(context.leftovers, context.cores, jobOf(server, workload));
  return measureLoad(context, server.pid, originPid, load);
}

/** Only once it has started: how many threads a server starts should not depend on the pinning. */
async function startPinned({ cores }: BenchContext, contender: EdgeContender): Promise<Running> {
  const server = await contender.start();
  if (cores !== null) pinTree(server.pid, cores.server);
  return server;
}

function jobOf(server: Running, { kind, size, protocol, atOnce }: EdgeWorkload): H2loadJob {
  const scheme = protocol === "http" ? "http" : "https";
  const url = urlOf(scheme, HOSTS[kind], PATHS[size]);
  return { connectTo: doorOf(server, scheme).host, url, protocol, atOnce };
}

function doorOf({ ready }: Running, scheme: "http" | "https"): URL {
  return new URL(ready![scheme === "http" ? "edge" : "edge_tls"]!);
}

type Measured = (seconds: number) => Promise<HttpResult>;

/** A warm-up, which also fills the cache, then the interval that counts. */
async function measureLoad(
  { seconds }: BenchContext,
  pid: number,
  originPid: number,
  run: Measured,
): Promise<Figures> {
  await run(WARM_UP_SECONDS);
  await run(WARM_UP_SECONDS); // By the first, h2load has learnt how many requests that is.
  const began = performance.now();
  const before = usedBy(pid, originPid);
  const result = await run(seconds);
  const after = usedBy(pid, originPid);
  const elapsed = (performance.now() - began) / 1000;
  const used = after.server - before.server;
  const share = (seconds: number) => seconds / elapsed;
  const originShare = share(after.origin - before.origin);
  const machineShare = share(after.machine - before.machine);
  // The clocks tick apart: it may come out below nothing.
  const othersShare = Math.max(0, machineShare - share(used) - originShare - result.loadShare);
  return {
    ...result,
    rate: result.requests / result.seconds,
    perCore: result.requests / used,
    cpuMicros: (used * 1e6) / result.requests,
    serverShare: share(used),
    originShare,
    othersShare,
    quiet: 1 - othersShare,
  };
}

function usedBy(pid: number, originPid: number) {
  return {
    server: treeCpuSeconds(pid),
    origin: treeCpuSeconds(originPid),
    machine: machineCpuSeconds(),
  };
}

/** What the edge adds to the origin's own time, asked directly right afterwards. */
async function withAdded(
  { leftovers, cores, seconds }: BenchContext,
  measured: Figures,
  job: H2loadJob,
): Promise<Figures> {
  const connectTo = `${ORIGIN.host}:${ORIGIN.port}`;
  const run = h2loadOf(leftovers, cores, { ...job, connectTo });
  await run(WARM_UP_SECONDS);
  const direct = await run(seconds);
  return { ...measured, added: measured["p50Micros"]! - direct.p50Micros };
}

async function measureHandshakes(
  { leftovers, cores }: BenchContext,
  server: Running,
  measure: (run: Measured) => Promise<Figures>,
): Promise<Figures> {
  const { hostname: host, port } = doorOf(server, "https");
  const job = { host, port: Number(port), servername: HOSTS.proxied, atOnce: AT_ONCE };
  const program = new URL("./handshake-load.ts", import.meta.url);
  await using load = startLoad<HandshakeJob, HttpResult>(leftovers, program, cores);
  return await measure((seconds) => load.run({ ...job, seconds }));
}

async function measureIdle(
  { leftovers, cores }: BenchContext,
  server: Running,
  scheme: "http" | "https",
): Promise<Figures> {
  const { hostname: host, port } = doorOf(server, scheme);
  await sleep(SETTLE_SECONDS * 1000);
  const before = treeMemory(server.pid);
  const program = new URL("./idle-load.ts", import.meta.url);
  await using load = startLoad<IdleJob, number>(leftovers, program, cores);
  const began = performance.now();
  const connections = await load.run({
    host,
    port: Number(port),
    servername: scheme === "https" ? HOSTS.proxied : null,
    request: requestText(PATHS.small, { Host: new URL(urlOf(scheme, HOSTS.proxied, "/")).host }),
    connections: IDLE_CONNECTIONS,
    seconds: OPENING_SECONDS,
  });
  const openingSeconds = (performance.now() - began) / 1000;
  await sleep(SETTLE_SECONDS * 1000);
  const after = treeMemory(server.pid);
  return {
    ...after,
    eachKiB: ((after.heldMiB - before.heldMiB) * 1024) / connections,
    openingSeconds,
  };
}
