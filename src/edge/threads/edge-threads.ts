/** The threads of the edge, as the main thread sees them: they share the listeners, and are started again if they die. */
import { randomBytes, randomInt } from "node:crypto";
import { createServer } from "node:net";
import { SharedConnections } from "#http";
import type { HostPort } from "#kit/address.ts";
import { listenFault } from "#kit/listen-fault.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import { CacheCounts } from "../cache/cache-counts.ts";
import { addCacheMetrics } from "../cache/cache-metrics.ts";
import type { DiskLedger } from "../cache/disk-ledger.ts";
import type { PurgeLog } from "../cache/purge-log.ts";
import type { FactSource } from "../facts/fact-source.ts";
import type { Generations } from "../facts/generations.ts";
import { EdgeCounters } from "./counters.ts";
import { addEdgeMetrics } from "./edge-metrics.ts";
import { launchThread, type RunningThread, type ThreadOptions } from "./launch-thread.ts";
import type { EdgeAddresses, EdgeSettings } from "./messages.ts";
import type { ScriptLeasesOptions } from "./script-leases.ts";

export interface EdgeThreadsOptions {
  readonly addresses: EdgeAddresses;
  readonly threads: number;
  readonly settings: Omit<EdgeSettings, "ticketKeys">;
  readonly generations: Generations;
  readonly facts: FactSource;
  readonly openScript: ScriptLeasesOptions["open"];
  readonly ledger: DiskLedger;
  readonly purges: PurgeLog;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Another program, for tests. */
  readonly entry?: URL;
}

export interface EdgeThreads extends AsyncDisposable {
  /** Where they listen. */
  readonly addresses: EdgeAddresses;
}

/** As OpenSSL wants them: a name, a key to sign with and one to seal with. */
const TICKET_KEY_OCTETS = 48;
/** A dead thread is replaced after this, and after twice as long each time it dies young. */
const RESTART_MS = 50;
const MAX_RESTART_MS = 5_000;
/** A thread that has lived this long did not die of its start. */
const GROWN_UP_MS = 60_000;
/** On top of what its requests have to finish, a thread has this long to end. */
const STOP_MS = 1_000;

/** Resolves when all listen; throws a sentence that names the flag when an address cannot be had. */
export async function startEdgeThreads(options: EdgeThreadsOptions): Promise<EdgeThreads> {
  const { threads, generations, openScript, settings, log, metrics } = options;
  if (threads > 1) await mustBeFree(options.addresses);
  const memory = {
    http: SharedConnections.memory(threads),
    https: SharedConnections.memory(threads),
  };
  const counters = Array.from({ length: threads }, () => new EdgeCounters());
  const cacheCounts = counters.map(() => new CacheCounts());
  const seed = randomInt(2 ** 32);
  const common = {
    ...settings,
    ticketKeys: new Uint8Array(randomBytes(TICKET_KEY_OCTETS)),
    threads,
    generations: generations.shared,
    connections: memory,
    seed,
    purgeFloor: options.purges.floor,
  };
  const onForgotten = (by: Supervisor, keys: readonly string[]) => {
    for (const other of supervisors) if (other !== by) other.forget(keys);
  };
  const supervisors = counters.map(
    ({ shared }, thread) =>
      new Supervisor({
        ...options,
        data: { ...common, thread, counters: shared, cacheCounts: cacheCounts[thread]!.shared },
        leases: { open: openScript, generations },
        onForgotten,
        connections: Object.values(memory).map((one) => new SharedConnections(one, thread, seed)),
      }),
  );
  const [first, ...others] = supervisors as [Supervisor, ...Supervisor[]];
  await using started = new AsyncDisposableStack();
  started.defer(async () => void (await Promise.all(supervisors.map((one) => one.stop()))));
  const addresses = await first.start(options.addresses); // Where it picks a port, the others follow.
  await Promise.all(others.map((one) => one.start(addresses)));
  addEdgeMetrics(metrics, {
    counters,
    connections: Object.values(memory).map((one) => new SharedConnections(one, 0, seed)),
    restarts: () => supervisors.reduce((sum, { restarts }) => sum + restarts, 0),
  });
  addCacheMetrics(metrics, cacheCounts, options.ledger);
  log.debug("edge threads started", { threads });
  const all = started.move();
  return { addresses, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Threads share an address with whoever asks for that; another server may not be among them. */
async function mustBeFree({ http, https }: EdgeAddresses): Promise<void> {
  const flags = [
    [http, "--edge"],
    [https, "--edge-tls"],
  ] as const;
  for (const [address, flag] of flags) {
    if (address !== null && address.port !== 0) await bindOnce(address, flag);
  }
}

function bindOnce(address: HostPort, flag: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (cause) => reject(listenFault(address, flag, cause)));
    server.listen({ ...address }, () => server.close(() => resolve()));
  });
}

interface SupervisorOptions extends Omit<ThreadOptions, "addresses" | "onForgotten"> {
  readonly onForgotten: (by: Supervisor, keys: readonly string[]) => void;
  readonly log: Log;
  /** What the thread counts. */
  readonly connections: readonly SharedConnections[];
}

class Supervisor {
  restarts = 0;
  readonly #options: SupervisorOptions;
  #thread: RunningThread | null = null;
  #diedYoung = 0;
  #timer: NodeJS.Timeout | null = null;
  #starting: Promise<unknown> = Promise.resolve();
  #isStopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Returns where the thread listens. */
  async start(addresses: EdgeAddresses): Promise<EdgeAddresses> {
    const starting = launchThread({
      ...this.#options,
      addresses,
      onForgotten: (keys) => this.#options.onForgotten(this, keys),
    });
    this.#starting = starting.catch(() => {});
    const thread = await starting;
    this.#thread = thread;
    const began = performance.now();
    void thread.ended.then((cause) => {
      this.#thread = null;
      for (const counts of this.#options.connections) counts.clear();
      if (performance.now() - began > GROWN_UP_MS) this.#diedYoung = 0;
      this.#startLater(thread.addresses, cause);
    });
    return thread.addresses;
  }

  forget(keys: readonly string[]): void {
    this.#thread?.say({ kind: "forget", keys });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#starting;
    const thread = this.#thread;
    if (thread === null) return;
    const { drainSeconds } = this.#options.data.limits;
    thread.say({ kind: "stop" });
    const late = setTimeout(() => thread.terminate(), drainSeconds * 1000 + STOP_MS);
    await thread.ended;
    clearTimeout(late);
  }

  #startLater(addresses: EdgeAddresses, cause: unknown): void {
    if (this.#isStopping) return;
    const { log, data } = this.#options;
    log.error("a thread of the edge ended; it is started again", { thread: data.thread, cause });
    const wait = Math.min(MAX_RESTART_MS, RESTART_MS * 2 ** this.#diedYoung);
    this.restarts++;
    this.#diedYoung++;
    this.#timer = setTimeout(() => {
      this.start(addresses).then(
        () => log.info("a thread of the edge is back", { thread: data.thread }),
        (error: unknown) => this.#startLater(addresses, error),
      );
    }, wait);
  }
}
