/** The sockets that take connections: plain TCP, and TLS with the name `dot`. RFC 7766, RFC 7858. */
import { createServer, type Server, type Socket } from "node:net";
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type TLSSocket,
} from "node:tls";
import type { HostPort } from "#kit/address.ts";
import { TRANSPORT } from "../client.ts";
import { clientOf } from "./client.ts";
import { Connection, type StreamThread } from "./connection.ts";
import { COUNT } from "./counters.ts";
import type { Certificate } from "./messages.ts";
import type { Place, Places } from "./places.ts";

/** Connections that wait to be taken; the system may allow fewer. */
const BACKLOG = 1_024;

export interface Listener {
  readonly address: HostPort;
  close(): void;
}

export interface TlsListener extends Listener {
  /** For the handshakes from now on. */
  setCertificate(certificate: Certificate): void;
}

export async function listenTcp(
  address: HostPort,
  places: Places,
  thread: StreamThread,
): Promise<Listener> {
  return listen(address, places, thread, (socket, place) => {
    welcome(socket, TRANSPORT.tcp, place, thread);
  });
}

export async function listenTls(
  address: HostPort,
  certificate: Certificate,
  places: Places,
  thread: StreamThread,
): Promise<TlsListener> {
  // A TLS socket does not say which plain one it stands on, but it has the same two ends.
  const handshakes = new Map<string, Place>();
  const tls = createTlsServer({ ...secured(certificate), ALPNProtocols: ["dot"] });
  tls.on("secureConnection", (socket: TLSSocket) => {
    const place = handshakes.get(endsOf(socket));
    if (place === undefined) socket.destroy();
    else {
      handshakes.delete(endsOf(socket));
      welcome(socket, TRANSPORT.tls, place, thread);
    }
  });
  tls.on("tlsClientError", (_error, socket) => {
    thread.counts[COUNT.failedHandshakes]!++;
    socket.destroy();
  });
  const listener = await listen(address, places, thread, (socket, place) => {
    const ends = endsOf(socket);
    handshakes.set(ends, place);
    socket.once("close", () => {
      if (handshakes.get(ends) === place) handshakes.delete(ends);
    });
    tls.emit("connection", socket);
  });
  return { ...listener, setCertificate: (next) => tls.setSecureContext(secured(next)) };
}

function secured({ key, cert }: Certificate): SecureContextOptions {
  return { key, cert, minVersion: "TLSv1.2" };
}

function endsOf(socket: Socket): string {
  return `${socket.localAddress} ${socket.remoteAddress} ${socket.remotePort}`;
}

function welcome(socket: Socket, transport: number, place: Place, thread: StreamThread): void {
  const client = clientOf(transport, socket.remoteAddress ?? "", socket.remotePort ?? 0);
  place.connection = new Connection(socket, client, place, thread);
}

async function listen(
  address: HostPort,
  places: Places,
  thread: StreamThread,
  take: (socket: Socket, place: Place) => void,
): Promise<Listener> {
  const server = createServer(
    { allowHalfOpen: true, noDelay: true, highWaterMark: thread.limits.unsentBytes },
    (socket) => {
      socket.on("error", () => {}); // Clients go as they like; `close` follows.
      const place = places.take(socket, thread.now());
      if (place !== null) take(socket, place);
    },
  );
  await bound(server, address);
  server.on("error", thread.onFault); // A connection could not be taken: the others go on.
  const { address: host, port } = server.address() as { address: string; port: number };
  return { address: { host, port }, close: () => server.close() };
}

function bound(server: Server, { host, port }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
