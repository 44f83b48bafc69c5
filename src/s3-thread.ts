/** A thread of the S3 API: its own listener, and its own store on the ground that the main thread has opened. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { Recent, S3Keys } from "#accounts";
import { openDatabase } from "#db";
import { type HttpLimits, SharedConnections } from "#http";
import type { HostPort } from "#kit/address.ts";
import { Generations } from "#kit/generations.ts";
import { Log, type LogFormat, type LogLevel } from "#kit/log.ts";
import { Metrics } from "#kit/metrics.ts";
import { settleMemory } from "#kit/settle-memory.ts";
import { SharedTally } from "#kit/tally.ts";
import { openBlobs } from "#objects";
import { S3Figures } from "#s3";
import { MeteredObjects } from "./metered-objects.ts";
import { listenS3 } from "./s3-listener.ts";

/** What a thread starts from. */
export interface S3ThreadData {
  /** Its number, from 0, of so many. */
  readonly thread: number;
  readonly threads: number;
  readonly address: HostPort;
  readonly domains: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly limits: HttpLimits;
  readonly log: { readonly format: LogFormat; readonly level: LogLevel };
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly blobsUrl: string;
  readonly sealKey: Uint8Array;
  /** To the database's writer, and to the store on the main thread. */
  readonly databasePort: MessagePort | null;
  readonly objectsPort: MessagePort;
  /** Of what has changed, on whichever thread. */
  readonly generations: SharedArrayBuffer;
  readonly tally: SharedArrayBuffer;
  readonly connections: SharedArrayBuffer;
  readonly seed: number;
}

/** The main thread says `stop`, and no more. */
export type FromS3Thread =
  | { readonly kind: "listening"; readonly address: HostPort }
  | { readonly kind: "not listening"; readonly message: string };

/** Of one thread to a database server: it asks for little at a time, and there may be many threads. */
const DATABASE_CONNECTIONS = 8;

const port = parentPort!;
const data = workerData as S3ThreadData;
const log = new Log({ ...data.log, now: Date.now });
const opened = new AsyncDisposableStack();

port.on("message", () => void stop());
try {
  say({ kind: "listening", address: await start() });
  settleMemory();
} catch (error) {
  say({ kind: "not listening", message: (error as Error).message });
  process.exit(); // Ends this thread only.
}

async function start(): Promise<HostPort> {
  const now = Date.now;
  const { dataDir, databaseUrl, blobsUrl, sealKey, connections, thread, seed } = data;
  const metrics = new Metrics(new SharedTally(data.tally));
  const generations = new Generations(data.generations);
  const db = opened.use(
    await openDatabase({
      url: databaseUrl,
      dataDir,
      port: data.databasePort,
      connections: DATABASE_CONNECTIONS,
      onError: (cause) => log.warn("database connection lost", { cause }),
    }),
  );
  const environment = process.env;
  const blobs = opened.use(await openBlobs({ url: blobsUrl, dataDir, environment, isOpen: true }));
  const main = data.objectsPort;
  const store = opened.use(new MeteredObjects({ db, blobs, now, generations, main }, metrics));
  const s3Keys = opened.use(
    new S3Keys({
      db,
      recent: new Recent(now, generations),
      sealKey,
      now,
      onLostNote: (cause) => log.warn("time of an S3 key's last use not kept", { cause }),
    }),
  );
  const listener = opened.use(
    await listenS3({
      ...data,
      sharesAddress: data.threads > 1,
      connections: new SharedConnections(connections, thread, seed),
      store,
      s3Keys,
      figures: new S3Figures(metrics),
      log,
      now,
    }),
  );
  return listener.address;
}

/** What is under way has its time. */
async function stop(): Promise<void> {
  await opened.disposeAsync();
  log.flush();
  process.exit();
}

function say(message: FromS3Thread): void {
  port.postMessage(message);
}
