/**
 * UDP through `node:dgram`, for systems without batches. One thread owns the one socket. Known
 * limits: a socket on a wildcard address answers from the address that the system picks, and
 * datagrams that wait in the socket of a thread that ends are lost.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type Endpoint, moduleUrl } from "./endpoint.ts";
import type { ResolvedAddress } from "./sockaddr.ts";

/** Binds once to learn the port, or why it cannot be had; the thread binds again. */
export async function openDgramEndpoint(address: ResolvedAddress): Promise<Endpoint> {
  const { host, family } = address;
  const type = family === 4 ? "udp4" : "udp6";
  const probe = createSocket(type);
  probe.bind({ address: host, port: address.port });
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return {
    address: { host, port },
    threads: 1,
    entry: moduleUrl("dgram-thread"),
    threadData: () => ({ type, host, port }),
    wake: () => {}, // Its event loop hears messages by itself.
    reply: (_thread, peer, reply, post) => post({ kind: "reply", reply, peer }),
    [Symbol.dispose]: () => {},
  };
}
