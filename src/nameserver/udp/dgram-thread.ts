/** A query thread on `node:dgram`: the same duties as `query-thread.ts`, a datagram at a time. */
import { createSocket, type RemoteInfo } from "node:dgram";
import { parentPort, workerData } from "node:worker_threads";
import { parseIpv4, parseIpv6 } from "#dns";
import { unmapped } from "#kit/cidr.ts";
import { type Client, TRANSPORT, UDP_PAYLOAD_OCTETS } from "../client.ts";
import { DEFERRED } from "../responder.ts";
import {
  copyClient,
  type FromThread,
  LATE_MS,
  loadResponder,
  mayDefer,
  type ThreadData,
  type ToThread,
  WORD,
} from "./control.ts";
import { COUNTER, observeBatch } from "./counters.ts";

interface DgramThreadData extends ThreadData {
  readonly type: "udp4" | "udp6";
  readonly host: string;
  readonly port: number;
}

/** Room for a burst of some hundreds of queries. */
const BUFFER_BYTES = 1024 * 1024;
/** How often a stop looks whether late answers are still to come. */
const STOP_CHECK_MS = 5;

/** What `respond` gives when the responder threw. */
const FAILED = -2;

type DgramPeer = Pick<RemoteInfo, "address" | "port">;

const { type, host, port, beatMs, ...data } = workerData as DgramThreadData;
const parent = parentPort!;
const { connect } = await loadResponder(data.responderModule);
let faultTold = false;
const makeResponder = connect(data.reader, tellOfFault);
let responder = makeResponder(data.settings);

const control = new Int32Array(data.control);
const counters = new Float64Array(data.counters);
const reply = new Uint8Array(UDP_PAYLOAD_OCTETS);
const client: Client = {
  transport: TRANSPORT.udp,
  address: new Uint8Array(16),
  addressLength: 4,
  port: 0,
};

const socket = createSocket(type, take);
socket.bind({ address: host, port }, () => {
  try {
    socket.setRecvBufferSize(BUFFER_BYTES);
    socket.setSendBufferSize(BUFFER_BYTES);
  } catch {
    // Some systems refuse what is above their limit; it works with what they give.
  }
  tell({ kind: "ready" });
});
setInterval(() => {
  control[WORD.beat]!++;
  faultTold = false;
}, beatMs / 2);

parent.on("message", (message: ToThread) => {
  if (message.kind === "settings") responder = makeResponder(message.settings);
  if (message.kind === "reply") {
    // Without a listener of its own an error would end the thread.
    socket.send(message.reply, ...addressOf(message.peer as DgramPeer), () => {});
  }
  if (message.kind === "stop") stop();
});

/** Takes no more queries, and ends when the late answers have gone out too. */
function stop(): void {
  socket.off("message", take);
  const deadline = performance.now() + LATE_MS;
  const end = () => socket.close(() => process.exit(0));
  const check = setInterval(() => {
    if (Atomics.load(control, WORD.outstanding) > 0 && performance.now() < deadline) return;
    clearInterval(check);
    setImmediate(end); // The last answer may wait behind this timer.
  }, STOP_CHECK_MS);
}

function take(query: Uint8Array, peer: RemoteInfo): void {
  const start = performance.now();
  answer(query, peer);
  observeBatch(counters, 1, (performance.now() - start) / 1000);
}

function answer(query: Uint8Array, peer: DgramPeer): void {
  if (!readClient(peer)) {
    counters[COUNTER.badSource]!++;
    return;
  }
  const length = respond(query);
  if (length > 0) send(reply.slice(0, length), peer);
  else if (length === 0) counters[COUNTER.noResponse]!++;
  else if (length === DEFERRED) defer(query, peer);
}

function readClient({ address, port }: DgramPeer): boolean {
  const text = unmapped(address);
  const octets = parseIpv4(text) ?? parseIpv6(text.split("%")[0]!);
  if (port === 0 || octets === null) return false;
  client.address.set(octets);
  client.addressLength = octets.length;
  client.port = port;
  return true;
}

function respond(query: Uint8Array): number {
  try {
    responder.begin(Date.now());
    return responder.respond(query, 0, query.length, client, reply, 0);
  } catch (cause) {
    counters[COUNTER.fault]!++;
    tellOfFault(cause);
    return FAILED;
  } finally {
    responder.end();
  }
}

function send(octets: Uint8Array, peer: DgramPeer): void {
  socket.send(octets, ...addressOf(peer), (error) => {
    counters[error === null ? COUNTER.answered : COUNTER.sendFailed]!++;
  });
}

function defer(query: Uint8Array, { address, port }: DgramPeer): void {
  if (!mayDefer(control)) {
    counters[COUNTER.deferredFull]!++;
    return;
  }
  counters[COUNTER.deferred]!++;
  const peer: DgramPeer = { address, port };
  tell({ kind: "deferred", query, client: copyClient(client), peer });
}

function addressOf({ address, port }: DgramPeer): [port: number, address: string] {
  return [port, address];
}

function tellOfFault(cause: unknown): void {
  if (!faultTold) tell({ kind: "fault", cause });
  faultTold = true;
}

function tell(message: FromThread): void {
  parent.postMessage(message);
}
