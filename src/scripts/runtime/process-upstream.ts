/** Connections that carry requests to a script's process. */
import { Upstream } from "#http";

/** An open connection takes a descriptor on both sides. workerd closes none by itself in this time. */
const IDLE_CONNECTION_MS = 10_000;
/** It is on this machine: what takes longer is stuck, and the watchdog sees to it. */
const CONNECT_MS = 30_000;

/**
 * workerd gives a connection up whose body its script has not read, when the next request comes. A short one that came with
 * its head it has read by then (`workerd-facts.test.ts`).
 */
export const READS_AT_ONCE = 8 * 1024;

/** Hears of each connection that is gone: the process may be, too. */
export function processUpstream(socketPath: string, onGone: () => void): Upstream {
  return new Upstream({
    target: { path: socketPath },
    readsAtOnce: READS_AT_ONCE,
    idleMs: IDLE_CONNECTION_MS,
    connectMs: CONNECT_MS,
    onGone,
  });
}
