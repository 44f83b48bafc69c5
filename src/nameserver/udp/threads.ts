/** DNS over UDP: opens the port and runs the threads that answer on it. RFC 1035 §4.2.1. */
import type { HostPort } from "#kit/address.ts";
import { listenFault } from "#kit/listen-fault.ts";
import type { Log } from "#kit/log.ts";
import type { ResponderSettings } from "../responder.ts";
import type { ReaderHandle } from "../snapshot/handle.ts";
import { openBatchEndpoint } from "./batch-endpoint.ts";
import { readCounters, type UdpCounters } from "./counters.ts";
import { openDgramEndpoint } from "./dgram-endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { type AnswerLater, LateAnswers } from "./late-answers.ts";
import { isKnownPlatform, loadLibc, type Libc } from "#kit/libc.ts";
import { resolveAddress } from "./sockaddr.ts";
import { Supervisor } from "./supervisor.ts";

export interface UdpOptions {
  readonly address: HostPort;
  readonly threads: number;
  /** Gives a thread its view of the zones; a thread that is started anew gets a new one. */
  readonly connectReader: () => ReaderHandle;
  readonly disconnectReader: (slot: number) => void;
  readonly settings: ResponderSettings;
  /** Answers a query that needs an outside name; null for no answer. */
  readonly answerLater: AnswerLater;
  readonly log: Log;
  readonly onRestart: () => void;
  /** For tests; by default what the system can do. */
  readonly endpoint?: "batch" | "dgram";
  /** For tests; by default the real responder. */
  readonly responderModule?: string;
  /** For tests. */
  readonly beatMs?: number;
}

export interface UdpListener extends AsyncDisposable {
  readonly address: HostPort;
  counters(): UdpCounters;
  /** Gives the threads new settings; queries that arrive meanwhile are not lost. */
  configure(settings: ResponderSettings): void;
}

/** How often a thread shows that it is alive: seldom enough to cost an idle machine nothing. */
const BEAT_MS = 1_000;

export async function startUdp(options: UdpOptions): Promise<UdpListener> {
  const endpoint = await openEndpoint(options);
  const late = new LateAnswers(options.answerLater, options.log);
  const supervisors = Array.from(
    { length: endpoint.threads },
    (_, thread) =>
      new Supervisor({
        ...options,
        endpoint,
        thread,
        late,
        responderModule: options.responderModule ?? null,
        beatMs: options.beatMs ?? BEAT_MS,
      }),
  );
  // A process that ends without a stop joins its threads one by one, each at the end of its beat.
  const release = () => supervisors.forEach((supervisor) => supervisor.release());
  process.once("exit", release);
  const stop = async () => {
    process.off("exit", release);
    await Promise.all(supervisors.map((supervisor) => supervisor.stop()));
    await late.settle();
    endpoint[Symbol.dispose]();
  };
  try {
    await Promise.all(supervisors.map((supervisor) => supervisor.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    address: endpoint.address,
    counters: () =>
      readCounters(
        supervisors.map((supervisor) => supervisor.counters),
        late.counters,
        supervisors.reduce((sum, supervisor) => sum + supervisor.restarts, 0),
      ),
    configure: (settings) => supervisors.forEach((supervisor) => supervisor.configure(settings)),
    [Symbol.asyncDispose]: stop,
  };
}

async function openEndpoint({ address, threads, log, ...options }: UdpOptions): Promise<Endpoint> {
  const wanted = options.endpoint ?? (isKnownPlatform ? "batch" : "dgram");
  const libc = wanted === "batch" ? await libcOrNull(log) : null;
  try {
    const resolved = await resolveAddress(address);
    return libc === null
      ? await openDgramEndpoint(resolved)
      : openBatchEndpoint(libc, resolved, threads);
  } catch (cause) {
    throw listenFault(address, "--dns", cause as NodeJS.ErrnoException);
  }
}

/** The foreign functions come in a package for each platform, which an install can lack. */
function libcOrNull(log: Log): Promise<Libc | null> {
  return loadLibc().catch((cause: unknown) => {
    log.warn("no batches of datagrams: koffi cannot be loaded; DNS is slower", { cause });
    return null;
  });
}
