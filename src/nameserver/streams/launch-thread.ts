/** Starts the stream thread and speaks with it. */
import { Worker } from "node:worker_threads";
import type { HostPort } from "#kit/address.ts";
import { listenFault } from "#kit/listen-fault.ts";
import type { Log } from "#kit/log.ts";
import type { Client } from "../client.ts";
import type { ResponderSettings } from "../responder.ts";
import type { ReaderHandle } from "../snapshot/handle.ts";
import type { StreamLimits } from "./limits.ts";
import type {
  Certificate,
  FromStreamThread,
  StreamThreadData,
  ToStreamThread,
} from "./messages.ts";

export interface ThreadOptions {
  /** Where UDP listens: the same host and port. */
  readonly address: HostPort | null;
  readonly tlsAddress: HostPort | null;
  /** Needed for TLS. */
  readonly certificate: Certificate | null;
  readonly connectReader: () => ReaderHandle;
  readonly disconnectReader: (slot: number) => void;
  readonly settings: ResponderSettings;
  readonly limits: StreamLimits;
  readonly counters: SharedArrayBuffer;
  /** Answers a query that the thread could not; null when there is no answer. */
  readonly answerLater: (query: Uint8Array, client: Client) => Promise<Uint8Array | null>;
  readonly log: Log;
  /** Another responder, for tests. */
  readonly responderModule?: string;
}

export interface RunningThread {
  readonly address: HostPort | null;
  readonly tlsAddress: HostPort | null;
  /** Resolves when the thread has ended, with what it died of, if of anything. */
  readonly ended: Promise<unknown>;
  say(message: ToStreamThread): void;
  terminate(): void;
}

/** Resolves when the thread listens. */
export async function launchThread(options: ThreadOptions): Promise<RunningThread> {
  const worker = startWorker(options);
  const ended = endOf(worker);
  const say = (message: ToStreamThread) => worker.postMessage(message);
  const bound = await new Promise<Pick<RunningThread, "address" | "tlsAddress">>(
    (resolve, reject) => {
      worker.on("message", (message: FromStreamThread) => {
        if (message.kind === "listening") resolve(message);
        else if (message.kind === "not listening") reject(faultOf(message, options));
        else if (message.kind === "fault")
          options.log.error("a query could not be answered", { cause: message.error });
        else void answer(message, options).then(say);
      });
      void ended.then((cause) => reject(new Error("The thread of DNS over TCP ended", { cause })));
    },
  );
  const { address, tlsAddress } = bound;
  return { address, tlsAddress, ended, say, terminate: () => void worker.terminate() };
}

function startWorker(options: ThreadOptions): Worker {
  const { address, tlsAddress, certificate, settings, limits, counters } = options;
  const reader = options.connectReader();
  const workerData: StreamThreadData = {
    address,
    tlsAddress,
    certificate,
    reader,
    settings,
    limits,
    counters,
    responderModule: options.responderModule ?? null,
  };
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./stream-thread.${extension}`, import.meta.url), {
    name: "dns-streams",
    workerData,
    transferList: [reader.port],
  });
  worker.once("exit", () => options.disconnectReader(reader.slot));
  return worker;
}

function endOf(worker: Worker): Promise<unknown> {
  return new Promise((resolve) => {
    let cause: unknown = null;
    worker.once("error", (error) => (cause = error));
    worker.once("exit", () => resolve(cause));
  });
}

function faultOf(
  { isTls, cause }: Extract<FromStreamThread, { kind: "not listening" }>,
  { address, tlsAddress }: ThreadOptions,
): Error {
  return isTls
    ? listenFault(tlsAddress!, "--dns-tls", cause)
    : listenFault(address!, "--dns", cause);
}

async function answer(
  { ticket, query, client }: Extract<FromStreamThread, { kind: "later" }>,
  { answerLater, log }: ThreadOptions,
): Promise<ToStreamThread> {
  try {
    const reply = await answerLater(query, client);
    // A view would be sent with all the memory that it is a view of.
    return { kind: "answer", ticket, reply: reply && new Uint8Array(reply) };
  } catch (cause) {
    log.error("a query could not be answered", { cause });
    return { kind: "answer", ticket, reply: null };
  }
}
