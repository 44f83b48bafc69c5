/**
 * A query thread: takes datagrams from its socket in batches, answers each from shared memory and
 * sends the replies in batches. A system call costs more than an answer, and a batch shares it.
 * Nothing on this path makes garbage.
 */
import { setImmediate } from "node:timers";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { type Client, TRANSPORT } from "../client.ts";
import { DEFERRED } from "../responder.ts";
import {
  copyClient,
  type FromThread,
  loadResponder,
  mayDefer,
  type ThreadData,
  type ToThread,
  WORD,
} from "./control.ts";
import { COUNTER, observeBatch } from "./counters.ts";
import { DatagramBatch, type DatagramForm } from "./datagram-batch.ts";
import { EAGAIN, loadLibc, MSG_DONTWAIT, POLLIN, POLLNVAL, POLLOUT } from "#kit/libc.ts";

export interface QueryThreadData extends ThreadData {
  readonly socket: number;
  /** An eventfd that ends the wait for datagrams. */
  readonly wake: number;
  readonly form: DatagramForm;
}

/** Spreads the cost of two system calls thin enough; more would only add waiting. */
const BATCH = 64;
/** How long replies wait for room in the socket's buffer before the rest of the batch is dropped. */
const SEND_PATIENCE_MS = 10;
/** What a stop still answers: more datagrams than the socket's buffer holds. */
const DRAIN_BATCHES = 128;
/** What `respond` gives when the responder threw. */
const FAILED = -2;

const { socket, wake, form, beatMs, ...data } = workerData as QueryThreadData;
const port = parentPort!;
const libc = await loadLibc();
const { connect } = await loadResponder(data.responderModule);
let faultTold = false;
const makeResponder = connect(data.reader, tellOfFault);
let responder = makeResponder(data.settings);

const control = new Int32Array(data.control);
const counters = new Float64Array(data.counters);
const batch = new DatagramBatch(BATCH, form, libc.addressOf);
const client: Client = {
  transport: TRANSPORT.udp,
  address: new Uint8Array(16),
  addressLength: 4,
  port: 0,
};
/** Two `struct pollfd`: descriptor, then events and what came of them in halves of a word. */
const pollMemory = new ArrayBuffer(16);
const pollWords = new Int32Array(pollMemory);
const pollAddress = libc.addressOf(pollMemory);
const wakeCount = new Uint8Array(8);
let commandsSeen = 0;
let isStopping = false;

tell({ kind: "ready" });
setImmediate(serveOn);

/** Serves a beat long, then lets the event loop run once, for Node's own work in this thread. */
function serveOn(): void {
  serve();
  if (!isStopping) setImmediate(serveOn);
  else {
    for (let i = 0; i < DRAIN_BATCHES && takeBatch() > 0; i++);
    process.exit(0);
  }
}

function serve(): void {
  faultTold = false;
  const end = performance.now() + beatMs;
  while (!isStopping && performance.now() < end) {
    control[WORD.beat]!++;
    if (Atomics.load(control, WORD.commands) !== commandsSeen) obey();
    // A batch that is not full has emptied the socket: waiting spares a call that finds nothing. An error
    // is the poll's to notice, or passes.
    else if (takeBatch() < BATCH) waitForDatagrams();
  }
}

function obey(): void {
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (received === undefined) return;
    commandsSeen++;
    const message = received.message as ToThread;
    if (message.kind === "settings") responder = makeResponder(message.settings);
    if (message.kind === "stop") isStopping = true;
  }
}

/** Answers what has arrived, at most a batch; tells how many that were. */
function takeBatch(): number {
  const received = libc.recvmmsg(socket, batch.receiveHeaders, BATCH, MSG_DONTWAIT, 0);
  if (received <= 0) return received;
  const start = performance.now();
  responder.begin(Date.now());
  let replies = 0;
  for (let i = 0; i < received; i++) replies += answer(i, replies);
  responder.end();
  send(replies);
  batch.rearm(received);
  observeBatch(counters, received, (performance.now() - start) / 1000);
  return received;
}

/** Answers the query in one slot into another slot for replies. Returns the number of replies. */
function answer(query: number, reply: number): 0 | 1 {
  if (!batch.readClient(query, client)) {
    counters[COUNTER.badSource]!++;
    return 0;
  }
  const length = respond(query, reply);
  if (length > 0) {
    batch.addressReply(reply, query, length);
    return 1;
  }
  if (length === 0) counters[COUNTER.noResponse]!++;
  else if (length === DEFERRED) defer(query);
  return 0;
}

/** A query that the responder fails on must not take the others, or the thread, down with it. */
function respond(query: number, reply: number): number {
  const { octets } = batch;
  const start = batch.queryStart(query);
  const at = batch.replyStart(reply);
  try {
    return responder.respond(octets, start, batch.queryLength(query), client, octets, at);
  } catch (cause) {
    counters[COUNTER.fault]!++;
    tellOfFault(cause);
    return FAILED;
  }
}

function defer(query: number): void {
  if (!mayDefer(control)) {
    counters[COUNTER.deferredFull]!++;
    return;
  }
  counters[COUNTER.deferred]!++;
  const start = batch.queryStart(query);
  tell({
    kind: "deferred",
    query: batch.octets.slice(start, start + batch.queryLength(query)),
    client: copyClient(client),
    peer: batch.copyPeer(query),
  });
}

function send(count: number): void {
  let next = 0;
  while (next < count) {
    const headers = batch.sendHeaders + next * DatagramBatch.HEADER_OCTETS;
    const sent = libc.sendmmsg(socket, headers, count - next, MSG_DONTWAIT);
    if (sent > 0) {
      next += sent;
      counters[COUNTER.answered]! += sent;
      continue;
    }
    // The first one could not be sent; those after it may be.
    const isFull = libc.errno() === EAGAIN;
    if (isFull && hasRoom()) continue;
    const lost = isFull ? count - next : 1;
    next += lost;
    counters[COUNTER.sendFailed]! += lost;
  }
}

function waitForDatagrams(): void {
  pollWords[0] = socket;
  pollWords[1] = POLLIN;
  pollWords[2] = wake;
  pollWords[3] = POLLIN;
  libc.poll(pollAddress, 2, beatMs);
  if (pollWords[1] >> 16 === POLLNVAL) throw new Error(`Descriptor ${socket} is not a socket`);
  if (pollWords[3] >> 16 !== 0) libc.read(wake, wakeCount, wakeCount.length);
}

function hasRoom(): boolean {
  pollWords[0] = socket;
  pollWords[1] = POLLOUT;
  return libc.poll(pollAddress, 1, SEND_PATIENCE_MS) > 0;
}

/** Once a beat: a flood of such queries must not become a flood of log lines. */
function tellOfFault(cause: unknown): void {
  if (!faultTold) tell({ kind: "fault", cause });
  faultTold = true;
}

function tell(message: FromThread): void {
  port.postMessage(message);
}
