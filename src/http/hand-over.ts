/** Connections that somebody else looks at before Node's HTTP server does. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Gets each connection. Node has it once it is handed over, with what was read put back. */
export type First = (socket: Socket, handOver: HandOver) => void;

/** The same for all connections: each of thousands that wait would pay for one of its own. */
export type HandOver = (socket: Socket, read: Buffer | null) => void;

/** The connections that Node has. */
export interface HandedOver {
  readonly handOver: HandOver;
  /** Whether something is written to one of them that is not sent. */
  areSending(): boolean;
}

export function takeFirst(server: Server, first: First): HandedOver {
  const handedOver = new Set<Socket>();
  // Node's own; it is not documented that the first one is. A test holds it.
  const accept = server.listeners("connection")[0] as (socket: Socket) => void;
  server.off("connection", accept);
  const handOver: HandOver = (socket, read) => {
    socket.pause();
    if (read !== null) socket.unshift(read);
    readByEvents(socket);
    accept.call(server, socket);
    handedOver.add(socket);
    socket.once("close", () => handedOver.delete(socket));
    socket.resume();
  };
  server.on("connection", (socket: Socket) => {
    if (!socket.destroyed) first(socket, handOver); // Else it was turned away.
  });
  return {
    handOver,
    areSending: () => handedOver.values().some((socket) => socket.writableLength > 0),
  };
}

/**
 * Node's parser would read a TLS handle by itself, past what the stream has taken from it already. One that is
 * marked as somebody's it reads by the stream's events.
 */
function readByEvents(socket: Socket): void {
  const { _handle: handle } = socket as { readonly _handle?: { _consumed?: boolean } | null };
  if ("encrypted" in socket && handle) handle._consumed = true;
}
