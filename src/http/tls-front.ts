/** TLS before an HTTP server: certificates by name, and HTTP/2 for clients that ask for it. */
import type { RequestListener, Server } from "node:http";
import { createServer as createHttp2, type Http2Session } from "node:http2";
import type { Socket } from "node:net";
import { createServer as createTls, type SecureContext, type Server as TlsServer } from "node:tls";
import { resetStream } from "./break-off.ts";
import type { HttpLimits } from "./limits.ts";

export interface TlsOptions {
  /** What serves a hostname; null refuses the handshake. */
  readonly contextFor: (hostname: string) => Promise<SecureContext | null>;
  /** What is shown to clients that name no host, asked for with each connection; null refuses them. */
  readonly fallback: () => CertifiedKey | null | Promise<CertifiedKey | null>;
  /** Of session tickets: threads with the same keys go on with each other's sessions. */
  readonly ticketKeys: Uint8Array;
}

/** In PEM; `cert` has the chain. */
export interface CertifiedKey {
  readonly cert: string;
  readonly key: string;
}

export interface TlsFront {
  readonly server: TlsServer;
  /** From now on; sessions under other keys begin anew. */
  setTicketKeys(keys: Uint8Array): void;
  /** Tells clients of HTTP/2 that no more requests are taken. */
  drain(): void;
}

/** From the first octet to the end of the handshake. */
const HANDSHAKE_MS = 10_000;
/** Streams of one connection at a time, as most servers grant. */
const MAX_STREAMS = 128;
/** Headers of one request; their octets are bounded beside it. */
const MAX_HEADER_PAIRS = 256;
/** Streams that a client may open and reset at once, and a second: more is an attack. CVE-2023-44487. */
const RESET_BURST = 200;
const RESETS_A_SECOND = 20;

/** What it takes in clear goes to `http`, or in HTTP/2 to the same handler. */
export function tlsFront(
  http: Server,
  handle: RequestListener,
  { contextFor, fallback, ticketKeys }: TlsOptions,
  limits: HttpLimits,
): TlsFront {
  const sessions = new Set<Http2Session>();
  const http2 = createHttp2({
    maxHeaderListPairs: MAX_HEADER_PAIRS,
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: limits.headerBytes },
    strictSingleValueFields: false, // Origins say some things twice; an answer is not refused for it.
    streamResetBurst: RESET_BURST,
    streamResetRate: RESETS_A_SECOND,
  });
  // Its requests and answers are near enough to those of HTTP/1.1 for whoever only reads and writes them.
  http2.on("request", ((request, response) => {
    // Node holds a client to its limit only when that has said that it knows it.
    if (octetsOf(request.rawHeaders) > limits.headerBytes) resetStream(request);
    else handle(request, response);
  }) as RequestListener as never);
  http2.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => session.destroy());
    session.setTimeout(limits.idleSeconds * 1000, () => {
      session.close(); // What is under way has its time, and then nobody is there to take it.
      session.setTimeout(limits.requestSeconds * 1000, () => session.destroy());
    });
    session.once("close", () => sessions.delete(session));
  });
  const choose = async (
    hostname: string,
    done: (error: Error | null, context?: SecureContext) => void,
  ): Promise<void> => {
    try {
      const context = await contextFor(hostname.toLowerCase());
      if (context === null) done(new Error(`No certificate for ${hostname}`));
      else done(null, context);
    } catch (error) {
      done(error as Error);
    }
  };
  http.emit("listening"); // It never does so itself, and from then on Node looks for heads that take too long.
  const server = createTls({
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: HANDSHAKE_MS,
    noDelay: true, // As Node has it for HTTP: what follows a piece of an answer does not wait for its acknowledgement.
    ticketKeys: Buffer.from(ticketKeys),
    SNICallback: (hostname, done) => void choose(hostname, done),
  });
  let keys = Buffer.from(ticketKeys);
  showFallback(server, fallback, () => keys);
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("secureConnection", (socket) => {
    socket.on("error", () => socket.destroy());
    (socket.alpnProtocol === "h2" ? http2 : http).emit("connection", socket);
  });
  return {
    server,
    setTicketKeys(others) {
      keys = Buffer.from(others);
      server.setTicketKeys(keys);
    },
    drain: () => {
      for (const session of sessions) session.close();
    },
  };
}

/**
 * Node asks nobody where a client names no host: it takes what the server itself has. So that is made to be the
 * right one before a connection begins to speak TLS.
 */
function showFallback(
  server: TlsServer,
  fallback: TlsOptions["fallback"],
  ticketKeys: () => Buffer,
): void {
  let shown: string | undefined;
  const show = (pair: CertifiedKey | null) => {
    if (pair?.cert === shown) return;
    shown = pair?.cert;
    server.setSecureContext({ ...pair, ticketKeys: ticketKeys() });
  };
  const begin = server.listeners("connection")[0] as (socket: Socket) => void;
  server.off("connection", begin);
  server.on("connection", (socket: Socket) => {
    const pair = fallback();
    if (pair instanceof Promise) {
      socket.on("error", () => socket.destroy());
      const settled = pair.then(show).catch(() => {}); // What was shown before is, or nothing.
      void settled.then(() => socket.destroyed || begin.call(server, socket));
    } else {
      show(pair);
      begin.call(server, socket);
    }
  });
}

function octetsOf(rawHeaders: readonly string[]): number {
  let octets = 0;
  for (const text of rawHeaders) octets += text.length;
  return octets;
}
