/** An HTTP listener with limits, that answers bad requests in its door's words and stops gently. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { HostPort } from "#kit/address.ts";
import type { Ranges } from "#kit/cidr.ts";
import { listenFault } from "#kit/listen-fault.ts";
import { createServer } from "#kit/node-http.ts";
import { resetStream } from "./break-off.ts";
import type { ConnectionCounts } from "./connection-counts.ts";
import { Connections } from "./connections.ts";
import { type HandedOver, type HandOver, takeFirst } from "./hand-over.ts";
import type { HttpLimits } from "./limits.ts";
import { asOwn } from "./loop/as-own.ts";
import { loopListener } from "./loop/loop-listener.ts";
import { PlainLane } from "./plain/lane.ts";
import type { RejectedReply, RejectedRequest } from "./rejected.ts";
import type { TlsOptions } from "./tls-front.ts";
import { afterOthers, inTurn, isAnswering, isEnding, refuse } from "./refuse.ts";
import { SlowBodies } from "./slow-bodies.ts";

export interface ListenOptions {
  readonly address: HostPort;
  /** The flag that sets the address, for the error when it cannot be had. */
  readonly flag: string;
  readonly limits: HttpLimits;
  readonly handle: RequestListener;
  /** The handler itself tells clients to go on that hold a body back; else all are told so at once. */
  readonly asksForBodies?: boolean;
  /** A request that wants to speak another protocol on its connection; without this it is one like any other. */
  readonly handleUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Speaks TLS, and HTTP/2 beside HTTP/1.1. */
  readonly tls?: TlsOptions;
  /** The answer to a rejected request, in the door's own form. */
  readonly answerRejected: (rejected: RejectedRequest) => RejectedReply;
  /** Sources without a limit of their own: proxies that carry many clients. */
  readonly unlimited: Ranges | null;
  /** Hears of each connection turned away. */
  readonly onTurnedAway: () => void;
  /** What limits count, where other threads listen on the same address. */
  readonly connections?: ConnectionCounts;
  /** Whether others may. */
  readonly sharesAddress?: boolean;
}

export interface HttpListener extends AsyncDisposable {
  readonly address: HostPort;
  readonly connections: number;
  /** For TLS: see there. */
  setTicketKeys(keys: Uint8Array): void;
}

/** How long a stop waits for a next request on connections that look idle. */
const GRACE_MS = 250;
/** How often requests are looked for that take too long. */
const CLOCK_CHECK_MS = 1_000;

export async function listenHttp(options: ListenOptions): Promise<HttpListener> {
  const { limits } = options;
  let draining = false;
  const bodies = new SlowBodies(limits.requestSeconds);
  const take: RequestListener = (request, response) => {
    bodies.watch(request, performance.now());
    options.handle(request, response);
  };
  const receive: RequestListener = (request, response) => {
    if (isEnding(request.socket)) return;
    // Behind an upgrade that was not taken up Node reads no further request.
    if (draining || request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (isUnclear(request)) {
      inTurn(response, (socket) => reject(socket, { status: 400 }, options));
    } else take(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      // Node wants the part to have no more time than the whole.
      headersTimeout: Math.min(limits.headerSeconds, limits.requestSeconds) * 1000,
      requestTimeout: 0, // Node knows no time for bodies that keep moving: see below.
      keepAliveTimeout: limits.idleSeconds * 1000,
      connectionsCheckingInterval: CLOCK_CHECK_MS,
      requireHostHeader: false, // Checked below, to answer in the door's own form.
      shouldUpgradeCallback: (request) =>
        options.handleUpgrade !== undefined && isWebSocket(request),
    },
    receive,
  );
  if (options.asksForBodies === true) server.on("checkContinue", receive);
  // The bytes are bounded already; with a bound on their number, Node would drop the rest unsaid.
  server.maxHeadersCount = 0;
  server.timeout = (limits.requestSeconds + limits.idleSeconds) * 1000;
  // Loaded where it is spoken: HTTP/2 takes some MiB.
  const tls =
    options.tls && (await import("./tls-front.ts")).tlsFront(server, take, options.tls, limits);
  const front = tls?.server ?? server;
  const sockets = new Connections(options);
  front.on("connection", (socket: Socket) => sockets.admit(socket));
  const lane = new PlainLane({
    limits,
    handle: options.handle,
    isDraining: () => draining,
    reject: (socket, rejected) => reject(socket, rejected, options),
  });
  const handedOver = takeFirst(server, lane.take);
  refuseWhatNodeWould(server, options);
  const clock = setInterval(() => {
    refuseSlow(bodies, options);
    lane.check();
  }, CLOCK_CHECK_MS).unref();
  const upgraded = takeUpgrades(server, options);
  await bind(front, options);
  const { address, port } = front.address() as { address: string; port: number };
  // TLS is Node's.
  const ownLoop =
    tls === undefined ? await takeConnections(front, sockets, lane, handedOver) : null;
  return {
    address: { host: address, port },
    get connections() {
      return sockets.open.size;
    },
    setTicketKeys: (keys) => tls?.setTicketKeys(keys),
    [Symbol.asyncDispose]: () => {
      draining = true;
      // They have no end of their own that a stop could wait for.
      for (const socket of upgraded) socket.destroy();
      tls?.drain();
      const closeIdle = () => {
        // Node takes those for idle too whose answer is made but not sent.
        if (!handedOver.areSending()) server.closeIdleConnections();
        lane.closeIdle();
      };
      const cut = () => sockets.open.forEach((socket) => socket.destroy());
      ownLoop?.[Symbol.dispose]();
      const closed = Promise.all([closeServer(front), sockets.empty()]);
      return drain(closed, closeIdle, cut, limits.drainSeconds).finally(() => clearInterval(clock));
    },
  };
}

function bind(
  server: NetServer,
  { address, flag, sharesAddress = false }: ListenOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(listenFault(address, flag, cause)));
    server.listen({ ...address, reusePort: sharesAddress }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

/** Has the connections come here, past Node, where that can be. */
async function takeConnections(
  server: NetServer,
  connections: Connections,
  lane: PlainLane,
  { handOver }: HandedOver,
): Promise<Disposable | null> {
  const toNode: HandOver = (socket, read) => {
    const node = asOwn(socket)!.toNode();
    connections.replace(socket, node);
    handOver(node, read);
  };
  const listener = await loopListener(server, (own) => {
    const socket = own as unknown as Socket; // As far as it is used as one.
    if (connections.admit(socket)) lane.take(socket, toNode);
  });
  if (listener !== null) void closeServer(server);
  return listener;
}

function closeServer(server: NetServer): Promise<void> {
  return new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => resolve()); // http's own close ends idle ones at once.
  });
}

/** Hands upgrades over; returns the connections that are not HTTP any more. */
function takeUpgrades(server: Server, { handleUpgrade, ...options }: ListenOptions): Set<Duplex> {
  const upgraded = new Set<Duplex>();
  if (handleUpgrade === undefined) return upgraded;
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // One that comes before others are answered would overtake them.
    if (isUnclear(request) || isAnswering(socket)) {
      afterOthers(socket, () => reject(socket, { status: 400 }, options));
      return;
    }
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    socket.on("error", () => socket.destroy()); // Node has taken its own hands off.
    socket.setTimeout(0); // The protocol that comes now has clocks of its own.
    handleUpgrade(request, socket, head);
  });
  return upgraded;
}

/**
 * Has another version than may come here, names no host, or a coding of which Node undoes the chunks alone: the next
 * reader would take what is left for the body itself. RFC 9112 §2.3, §3.2, §6.1.
 */
function isUnclear({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  if (httpVersion !== "1.1") return httpVersion !== "1.0" || coding !== undefined;
  return headers.host === undefined || (coding ?? "chunked").toLowerCase() !== "chunked";
}

/** What announces a body is a request like any other: Node hands it over in another form, and nobody sends one. */
function isWebSocket({ method, headers, httpVersion }: IncomingMessage): boolean {
  const { upgrade = "", "content-length": length = "0", "transfer-encoding": coding } = headers;
  const hasBody = length !== "0" || coding !== undefined;
  const isAsked = upgrade.toLowerCase() === "websocket" && httpVersion === "1.1";
  return method === "GET" && isAsked && !hasBody;
}

/** Node has answers of its own to what never becomes a request; clients expect the door's. */
function refuseWhatNodeWould(server: Server, options: ListenOptions): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    const isCutShort = error.code === "HPE_INVALID_EOF_STATE" && isAnswering(socket);
    const rejected = { status: statusFor(error), ...(isCutShort && { isCutShort }) };
    afterOthers(socket, () => reject(socket, rejected, options));
  });
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    inTurn(response, (socket) => reject(socket, { status: 417 }, options));
  });
  server.on("connect", (_request, socket: Socket) => {
    afterOthers(socket, () => reject(socket, { status: 400 }, options));
  });
}

function refuseSlow(bodies: SlowBodies, options: ListenOptions): void {
  for (const request of bodies.take(performance.now())) {
    if (resetStream(request)) continue;
    const { socket } = request;
    afterOthers(socket, () => reject(socket, { status: 408 }, options));
  }
}

function reject(
  socket: Socket,
  rejected: RejectedRequest,
  { answerRejected }: ListenOptions,
): void {
  const { status = rejected.status, type, body, requestId, headers } = answerRejected(rejected);
  refuse(socket, { status, type, body }, headers ?? { "X-Request-Id": requestId });
}

function statusFor({ code }: NodeJS.ErrnoException): RejectedRequest["status"] {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
}

/**
 * Takes no more connections, answers what is on its way and says that each was the last, then
 * closes what is left. Closed at once, a connection that looks idle would lose the request that
 * its client has just sent.
 */
async function drain(
  closed: Promise<unknown>,
  closeIdle: () => void,
  cut: () => void,
  seconds: number,
): Promise<void> {
  const sweeps = setTimeout(() => {
    closeIdle();
    sweeps.refresh();
  }, GRACE_MS);
  const timer = setTimeout(cut, seconds * 1000);
  await closed;
  clearTimeout(timer);
  clearTimeout(sweeps);
}
