/** One query to one server, and its reply: over UDP from a port of its own, over TCP when that is not enough. */
import { createSocket } from "node:dgram";
import { connect, isIPv6 } from "node:net";
import type { HostPort } from "#kit/address.ts";
import { HEADER_OCTETS, isTruncated, matchReply, type Query } from "./query.ts";

/** Datagrams that do not match are no accident when there are many: someone is guessing. RFC 5452 §9.3. */
const MAX_STRANGE_REPLIES = 4;

/** `tcp`: the reply has to be had over TCP. It was cut short, or what came cannot be trusted. */
type Outcome = Uint8Array | "tcp" | null;

/** The server's reply; null when it cannot be reached, talks nonsense, or the signal ends the waiting. */
export async function exchange(
  server: HostPort,
  query: Query,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const reply = await askOverUdp(server, query, signal);
  return reply === "tcp" ? await askOverTcp(server, query, signal) : reply;
}

async function askOverUdp(server: HostPort, query: Query, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted) return null;
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const giveUp = (): void => resolve(null);
  signal.addEventListener("abort", giveUp);
  let strange = 0;
  const socket = createSocket(isIPv6(server.host) ? "udp6" : "udp4");
  socket
    .on("error", giveUp)
    .on("connect", () => socket.send(query.bytes))
    .on("message", (reply) => {
      const match = matchReply(query, reply);
      if (match === "exact") resolve(isTruncated(reply) ? "tcp" : reply);
      // Either a forger or a server that does not keep the spelling; TCP tells them apart.
      else if (match === "respelt" || ++strange === MAX_STRANGE_REPLIES) resolve("tcp");
    });
  try {
    // The system gives each socket a random port, and lets only this server's datagrams in.
    socket.connect(server.port, server.host);
    return await promise;
  } finally {
    signal.removeEventListener("abort", giveUp);
    socket.close();
  }
}

async function askOverTcp(
  server: HostPort,
  query: Query,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  if (signal.aborted) return null;
  const { promise, resolve } = Promise.withResolvers<Uint8Array | null>();
  const giveUp = (): void => resolve(null);
  signal.addEventListener("abort", giveUp);
  const socket = connect({ host: server.host, port: server.port, noDelay: true });
  let length: number | null = null;
  socket
    .on("error", giveUp)
    .on("close", giveUp)
    .on("readable", () => {
      // At the stream's end there may be fewer octets than were asked for.
      length ??= lengthIn(socket.read(2) as Buffer | null);
      if (length === null) return;
      if (length < HEADER_OCTETS) return giveUp();
      const reply = socket.read(length) as Buffer | null;
      if (reply === null) return;
      const isReply = reply.length === length && matchReply(query, reply) !== "none";
      resolve(isReply ? reply : null);
    });
  try {
    socket.write(Buffer.concat([lengthOctets(query.bytes), query.bytes]));
    return await promise;
  } finally {
    signal.removeEventListener("abort", giveUp);
    socket.destroy();
  }
}

function lengthIn(octets: Buffer | null): number | null {
  return octets?.length === 2 ? octets.readUInt16BE() : null;
}

function lengthOctets(message: Uint8Array): Uint8Array {
  return Uint8Array.of(message.length >> 8, message.length & 0xff);
}
