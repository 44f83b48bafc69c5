/** Starts a thread of the edge and answers what it asks. */
import { MessageChannel, Worker } from "node:worker_threads";
import { endOf, type RunningThread } from "#kit/supervisor.ts";
import { ScriptFault } from "#scripts";
import type { Ledger } from "../cache/disk-store.ts";
import { serveLedger } from "../cache/ledger-port.ts";
import type { PurgeLog } from "../cache/purge-log.ts";
import type { NumberedPurge } from "../cache/purge-rules.ts";
import type { FactSource } from "../facts/fact-source.ts";
import { LentFiles, type TakeLent } from "./lent-files.ts";
import type {
  EdgeAddresses,
  EdgeThreadData,
  FromEdgeThread,
  Question,
  Questions,
  Refused,
  ToEdgeThread,
} from "./messages.ts";
import { ScriptLeases, type ScriptLeasesOptions } from "./script-leases.ts";

export interface ThreadOptions {
  readonly addresses: EdgeAddresses;
  readonly data: Omit<EdgeThreadData, "ledger">;
  readonly facts: FactSource;
  readonly leases: ScriptLeasesOptions;
  readonly takeLent: TakeLent;
  readonly ledger: Ledger;
  readonly purges: PurgeLog;
  /** Hears what the thread has made doubtful, for the caches of the others. */
  readonly onForgotten: (keys: readonly string[]) => void;
  /** Another program, for tests. */
  readonly entry?: URL;
}

export interface EdgeThread extends RunningThread<EdgeAddresses> {
  say(message: ToEdgeThread): void;
}

/** Resolves when the thread listens. */
export async function launchThread(options: ThreadOptions): Promise<EdgeThread> {
  const { onForgotten, purges } = options;
  const worker = startWorker(options);
  const ended = endOf(worker);
  const say = (message: ToEdgeThread) => worker.postMessage(message);
  const leases = new ScriptLeases(options.leases);
  const files = new LentFiles(options.takeLent);
  const listening = Promise.withResolvers<EdgeAddresses>();
  listening.promise.catch(() => {}); // It may fail before anyone waits for it.
  const taking = new PurgesTaken(say);
  worker.on("message", (message: FromEdgeThread) => {
    if (message.kind === "ask") void answer(message, options.facts, leases, files).then(say);
    else if (message.kind === "release") leases.release(message.socketPath);
    else if (message.kind === "left") files.leave(message.lent);
    else if (message.kind === "taken") taking.taken(message.ticket);
    else if (message.kind === "forgotten") onForgotten(message.keys);
    else if (message.kind === "listening") listening.resolve(message.addresses);
    else listening.reject(new Error(message.message));
  });
  // What it has stored on disk may have been purged since.
  const told = purges.tell((some) => taking.take(some));
  told.catch(() => void worker.terminate()); // It must not serve, and would wait for ever.
  void ended.then((cause) => {
    leases[Symbol.dispose]();
    files[Symbol.dispose]();
    taking[Symbol.dispose]();
    listening.reject(new Error("A thread of the edge ended", { cause }));
    void told.then(
      (following) => following[Symbol.dispose](),
      () => {},
    );
  });
  await told;
  say({ kind: "listen", addresses: options.addresses });
  return {
    address: await listening.promise,
    ended,
    say,
    stop: () => say({ kind: "stop" }),
    terminate: () => void worker.terminate(),
  };
}

function startWorker({ data, ledger, ...options }: ThreadOptions): Worker {
  const channel = new MessageChannel();
  serveLedger(ledger, channel.port1);
  const workerData: EdgeThreadData = { ...data, ledger: channel.port2 };
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const entry = options.entry ?? new URL(`./edge-thread.${extension}`, import.meta.url);
  const worker = new Worker(entry, {
    name: `edge-${data.thread}`,
    workerData,
    transferList: [channel.port2],
  });
  worker.once("exit", () => channel.port1.close());
  return worker;
}

async function answer(
  { ticket, about, key }: Extract<FromEdgeThread, { kind: "ask" }>,
  facts: FactSource,
  leases: ScriptLeases,
  files: LentFiles,
): Promise<ToEdgeThread> {
  const answers: { [Q in Question]: () => Questions[Q] | Promise<Questions[Q]> } = {
    host: () => facts.host(key),
    zone: () => facts.zone(key),
    certificate: () => facts.certificate(key),
    place: () => leases.place(key, false),
    "place after loss": () => leases.place(key, true),
    fault: () => leases.fault(key),
    lent: () => {
      const [name, owner = null] = key.split(" ");
      return files.take(name!, owner);
    },
    "more of lent": () => files.next(key),
  };
  try {
    return { kind: "answer", ticket, value: await answers[about]() };
  } catch (error) {
    return { kind: "refused", ticket, why: whyRefused(error as Error) };
  }
}

function whyRefused(error: Error): Refused {
  return { kind: error instanceof ScriptFault ? error.kind : null, message: error.message };
}

/** Purges on their way to a thread; whoever has made one waits for it. */
class PurgesTaken implements Disposable {
  readonly #say: (message: ToEdgeThread) => void;
  readonly #waiting = new Map<number, () => void>();
  #lastTicket = 0;
  #isOver = false;

  constructor(say: (message: ToEdgeThread) => void) {
    this.#say = say;
  }

  take(purges: readonly NumberedPurge[]): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    const ticket = ++this.#lastTicket;
    this.#say({ kind: "purges", ticket, purges });
    return new Promise((resolve) => this.#waiting.set(ticket, resolve));
  }

  taken(ticket: number): void {
    this.#waiting.get(ticket)?.();
    this.#waiting.delete(ticket);
  }

  /** A thread that has ended serves nothing, purged or not. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const resolve of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }
}
