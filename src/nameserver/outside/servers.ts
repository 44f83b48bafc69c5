/** Which resolvers are asked: those of the settings, or the system's. */
import { Resolver } from "node:dns";
import { isIP } from "node:net";
import { parseHostPort, type HostPort } from "#kit/address.ts";

const DNS_PORT = 53;
/** A machine that changes networks changes resolvers, too. Reading its settings takes a fraction of a ms. */
const SYSTEM_SETTINGS_MS = 30_000;

/** The resolvers to ask now. Without configured ones they are the system's, as they are at the time. */
export function resolverServers(
  configured: readonly string[],
  now: () => number,
): () => readonly HostPort[] {
  if (configured.length > 0) {
    const servers = configured.map(parseServer);
    return () => servers;
  }
  let servers: readonly HostPort[] = [];
  let readAt = -Infinity;
  return () => {
    if (now() - readAt >= SYSTEM_SETTINGS_MS) {
      servers = new Resolver().getServers().map(parseServer);
      readAt = now();
    }
    return servers;
  };
}

/** Reads `192.0.2.1`, `192.0.2.1:53`, `::1` or `[::1]:53`. */
function parseServer(text: string): HostPort {
  return isIP(text) === 0 ? parseHostPort(text) : { host: text, port: DNS_PORT };
}
