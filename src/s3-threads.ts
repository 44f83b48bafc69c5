/** The threads of the S3 API, as the main thread sees them: they share the listener, and are started again if they die. */
import { randomInt } from "node:crypto";
import { Worker } from "node:worker_threads";
import type { Database } from "#db";
import { mustBeFree, SharedConnections } from "#http";
import type { HostPort } from "#kit/address.ts";
import type { Generations } from "#kit/generations.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import { endOf, type RunningThread, startAll, Supervisor } from "#kit/supervisor.ts";
import { SharedTally } from "#kit/tally.ts";
import type { ObjectStore } from "#objects";
import type { FromS3Thread, S3ThreadData } from "./s3-thread.ts";

/** What all threads are told alike. */
type Settings = Pick<
  S3ThreadData,
  | "domains"
  | "trustedProxies"
  | "limits"
  | "log"
  | "dataDir"
  | "databaseUrl"
  | "blobsUrl"
  | "sealKey"
>;

export interface S3ThreadsOptions {
  readonly address: HostPort;
  readonly threads: number;
  readonly settings: Settings;
  readonly db: Database;
  readonly objects: ObjectStore;
  readonly generations: Generations;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Another program, for tests. */
  readonly entry?: URL;
}

export interface S3Threads extends AsyncDisposable {
  /** Where they listen. */
  readonly address: HostPort;
  /** Of all of them. */
  readonly connections: number;
}

/** Resolves when all listen; throws a sentence that names the flag when the address cannot be had. */
export async function startS3Threads(options: S3ThreadsOptions): Promise<S3Threads> {
  const { address, threads, settings, log, metrics } = options;
  if (threads > 1) await mustBeFree(address, "--s3");
  const memory = SharedConnections.memory(threads);
  const seed = randomInt(2 ** 32);
  const supervisors = Array.from({ length: threads }, (_, thread) => {
    const tally = SharedTally.memory();
    const counts = new SharedConnections(memory, thread, seed);
    metrics.include(new SharedTally(tally));
    return new Supervisor<HostPort>({
      what: "a thread of the S3 API",
      thread,
      launch: (at) =>
        launch(options, { thread, threads, address: at, connections: memory, seed, tally }),
      onEnded: () => counts.clear(),
      drainSeconds: settings.limits.drainSeconds,
      log,
    });
  });
  const started = await startAll(supervisors, address);
  metrics.total(
    "selvedge_s3_thread_restarts_total",
    "Threads of the S3 API that ended and were started again.",
    () => supervisors.reduce((sum, { restarts }) => sum + restarts, 0),
  );
  const all = new SharedConnections(memory, 0, seed);
  return {
    address: started.address,
    get connections() {
      return all.open;
    },
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  };
}

type OwnData = Pick<
  S3ThreadData,
  "thread" | "threads" | "address" | "connections" | "seed" | "tally"
>;

async function launch(
  { settings, db, objects, generations, entry }: S3ThreadsOptions,
  own: OwnData,
): Promise<RunningThread<HostPort>> {
  const [databasePort, objectsPort] = [db.portForThread(), objects.portForThread()];
  const workerData: S3ThreadData = {
    ...settings,
    ...own,
    databasePort,
    objectsPort,
    generations: generations.shared,
  };
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(entry ?? new URL(`./s3-thread.${extension}`, import.meta.url), {
    name: `s3-${own.thread}`,
    workerData,
    transferList: databasePort === null ? [objectsPort] : [databasePort, objectsPort],
  });
  const ended = endOf(worker);
  const address = await new Promise<HostPort>((resolve, reject) => {
    worker.once("message", (message: FromS3Thread) => {
      if (message.kind === "listening") resolve(message.address);
      else reject(new Error(message.message));
    });
    void ended.then((cause) => reject(new Error("A thread of the S3 API ended", { cause })));
  });
  return {
    address,
    ended,
    stop: () => worker.postMessage("stop"),
    terminate: () => void worker.terminate(),
  };
}
