/** The thread that serves DNS over TCP and TLS, so that it never holds up the management API. */
import { parentPort, workerData } from "node:worker_threads";
import type { Connection, StreamThread } from "./connection.ts";
import { type Listener, listenTcp, listenTls, type TlsListener } from "./listeners.ts";
import type {
  FromStreamThread,
  ResponderModule,
  StreamThreadData,
  ToStreamThread,
} from "./messages.ts";
import { Places } from "./places.ts";
import { ReplyBuffer } from "./reply-buffer.ts";

/** How often clocks are looked at, and how often at least within the shortest limit. */
const SWEEP_MS = 250;
const SWEEPS_PER_LIMIT = 4;
/** A fault that comes with every query is told of this often. */
const FAULT_PAUSE_MS = 1_000;
/** How often a stop looks whether all have gone. */
const DRAIN_CHECK_MS = 10;

const port = parentPort!;
const { address, tlsAddress, certificate, reader, settings, limits, ...data } =
  workerData as StreamThreadData;
const module: ResponderModule =
  data.responderModule === null
    ? await import("../responder.ts")
    : ((await import(data.responderModule)) as ResponderModule);
let lastFaultAt = Number.NEGATIVE_INFINITY;
const responderWith = module.connect(reader, onFault);

/** Deferred queries by ticket. */
const deferred = new Map<number, { connection: Connection; length: number }>();
let lastTicket = 0;

const thread: StreamThread = {
  responder: responderWith(settings),
  limits,
  counts: new Float64Array(data.counters),
  replies: new ReplyBuffer(),
  now: () => performance.now(),
  defer(query, connection) {
    const ticket = ++lastTicket;
    deferred.set(ticket, { connection, length: query.length });
    // A view would be sent with all the memory that it is a view of.
    say({ kind: "later", ticket, query: new Uint8Array(query), client: connection.client });
  },
  onFault,
};
const places = new Places(limits, thread.counts);

const tcp = address && (await orSayWhyNot(false, listenTcp(address, places, thread)));
const tls =
  tlsAddress && (await orSayWhyNot(true, listenTls(tlsAddress, certificate!, places, thread)));
const sweeps = setInterval(() => places.sweep(thread.now()), sweepMs());
port.on("message", (message: ToStreamThread) => hear(message));
say({ kind: "listening", address: tcp && tcp.address, tlsAddress: tls && tls.address });

function say(message: FromStreamThread): void {
  port.postMessage(message);
}

function onFault(error: unknown): void {
  const now = performance.now();
  if (now - lastFaultAt < FAULT_PAUSE_MS) return;
  lastFaultAt = now;
  say({ kind: "fault", error });
}

function hear(message: ToStreamThread): void {
  switch (message.kind) {
    case "answer": {
      const { connection, length } = deferred.get(message.ticket)!;
      deferred.delete(message.ticket);
      connection.answered(message.reply, length);
      break;
    }
    case "certificate":
      tls?.setCertificate(message.certificate);
      break;
    case "settings":
      thread.responder = responderWith(message.settings);
      break;
    case "stop":
      stop(tcp, tls);
  }
}

async function orSayWhyNot<L>(isTls: boolean, listening: Promise<L>): Promise<L> {
  try {
    return await listening;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    say({ kind: "not listening", isTls, cause: { code, message } });
    return process.exit(); // Ends this thread only.
  }
}

function sweepMs(): number {
  const shortest = Math.min(limits.shortIdleMs, limits.messageMs, limits.stuckMs);
  return Math.min(SWEEP_MS, Math.ceil(shortest / SWEEPS_PER_LIMIT));
}

/** Takes no more connections, answers what was asked, closes what is left after its time. */
function stop(...listeners: readonly (Listener | TlsListener | null)[]): void {
  for (const listener of listeners) listener?.close();
  places.finish();
  const deadline = performance.now() + limits.drainMs;
  const checks = setInterval(() => {
    if (places.size > 0 && performance.now() < deadline) return;
    clearInterval(checks);
    clearInterval(sweeps);
    places.destroy();
    port.close();
    process.exit();
  }, DRAIN_CHECK_MS);
}
