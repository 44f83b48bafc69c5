/**
 * The authoritative nameserver: DNS over UDP, TCP, TLS and HTTPS.
 *
 * Zones lie compiled in shared memory (`snapshot/`), written by the main thread as they change
 * (`publisher.ts`) and read by query threads without a lock. `responder.ts` turns the octets of a query
 * into those of its response; `udp/` and `streams/` carry them; `outside/` knows names of others, for
 * flattened CNAMEs.
 */
export { dohHandler } from "./doh.ts";
export { type Nameserver, startNameserver } from "./nameserver.ts";
