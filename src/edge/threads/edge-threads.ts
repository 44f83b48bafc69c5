/** The threads of the edge, as the main thread sees them: they share the listeners, and are started again if they die. */
import { randomBytes, randomInt } from "node:crypto";
import { mustBeFree, SharedConnections } from "#http";
import type { Generations } from "#kit/generations.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import { startAll, Supervisor } from "#kit/supervisor.ts";
import { CacheCounts } from "../cache/cache-counts.ts";
import { addCacheMetrics } from "../cache/cache-metrics.ts";
import type { DiskLedger } from "../cache/disk-ledger.ts";
import type { PurgeLog } from "../cache/purge-log.ts";
import type { FactSource } from "../facts/fact-source.ts";
import { EdgeCounters } from "./counters.ts";
import { addEdgeMetrics } from "./edge-metrics.ts";
import { type EdgeThread, launchThread } from "./launch-thread.ts";
import type { TakeLent } from "./lent-files.ts";
import type { EdgeAddresses, EdgeSettings } from "./messages.ts";
import type { ScriptLeasesOptions } from "./script-leases.ts";

export interface EdgeThreadsOptions {
  readonly addresses: EdgeAddresses;
  readonly threads: number;
  readonly settings: Omit<EdgeSettings, "ticketKeys">;
  readonly generations: Generations;
  readonly facts: FactSource;
  readonly openScript: ScriptLeasesOptions["open"];
  /** What the store has lent to scripts. */
  readonly takeLent: TakeLent;
  readonly ledger: DiskLedger;
  readonly purges: PurgeLog;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Another program, for tests. */
  readonly entry?: URL;
  /** How long keys of session tickets are used. */
  readonly ticketKeysMs?: number;
}

export interface EdgeThreads extends AsyncDisposable {
  /** Where they listen. */
  readonly addresses: EdgeAddresses;
}

/** As OpenSSL wants them: a name, a key to sign with and one to seal with. */
const TICKET_KEY_OCTETS = 48;
/**
 * Who gets hold of them can read what was said under them in TLS 1.2. A session can be taken up again for five minutes,
 * so new ones cost few clients a handshake.
 */
const TICKET_KEYS_MS = 60 * 60_000;

/** Resolves when all listen; throws a sentence that names the flag when an address cannot be had. */
export async function startEdgeThreads(options: EdgeThreadsOptions): Promise<EdgeThreads> {
  const { threads, addresses, generations, openScript, settings, log, metrics } = options;
  if (threads > 1) {
    if (addresses.http !== null) await mustBeFree(addresses.http, "--edge");
    if (addresses.https !== null) await mustBeFree(addresses.https, "--edge-tls");
  }
  const memory = {
    http: SharedConnections.memory(threads),
    https: SharedConnections.memory(threads),
  };
  const counters = Array.from({ length: threads }, () => new EdgeCounters());
  const cacheCounts = counters.map(() => new CacheCounts());
  const seed = randomInt(2 ** 32);
  const connectionsOf = (thread: number) =>
    Object.values(memory).map((one) => new SharedConnections(one, thread, seed));
  const common = {
    ...settings,
    threads,
    generations: generations.shared,
    connections: memory,
    seed,
    purgeFloor: options.purges.floor,
  };
  let ticketKeys = newTicketKeys();
  const launch = (thread: number, at: EdgeAddresses) =>
    launchThread({
      ...options,
      addresses: at,
      data: {
        ...common,
        ticketKeys,
        thread,
        counters: counters[thread]!.shared,
        cacheCounts: cacheCounts[thread]!.shared,
      },
      leases: { open: openScript, generations },
      onForgotten(keys) {
        for (const [i, other] of supervisors.entries()) {
          if (i !== thread) other.thread?.say({ kind: "forget", keys });
        }
      },
    });
  const supervisors = counters.map(
    (_, thread) =>
      new Supervisor<EdgeAddresses, EdgeThread>({
        what: "a thread of the edge",
        thread,
        launch: (at) => launch(thread, at),
        onEnded() {
          for (const counts of connectionsOf(thread)) counts.clear();
        },
        drainSeconds: settings.limits.drainSeconds,
        log,
      }),
  );
  const started = await startAll(supervisors, addresses);
  const renewal = setInterval(() => {
    ticketKeys = newTicketKeys();
    for (const { thread } of supervisors) thread?.say({ kind: "ticket keys", ticketKeys });
  }, options.ticketKeysMs ?? TICKET_KEYS_MS).unref();
  addEdgeMetrics(metrics, {
    counters,
    connections: connectionsOf(0),
    restarts: () => supervisors.reduce((sum, { restarts }) => sum + restarts, 0),
  });
  addCacheMetrics(metrics, cacheCounts, options.ledger);
  log.debug("edge threads started", { threads });
  return {
    addresses: started.address,
    [Symbol.asyncDispose]: () => {
      clearInterval(renewal);
      return started[Symbol.asyncDispose]();
    },
  };
}

function newTicketKeys(): Uint8Array {
  return new Uint8Array(randomBytes(TICKET_KEY_OCTETS));
}
