/** The names that are asked for at every edge, the origin behind them, and how both are reached. */
import type { Contender } from "./contender.ts";
import type { Leftovers } from "./leftovers.ts";
import { peer } from "./peer.ts";

/** Answers of the first are fetched each time, those of the second come from the cache. */
export const HOSTS = { proxied: "bench.test", cached: "cached.test" } as const;

/** A pair of the web's ports that other servers on the machine seldom have. */
const PORTS = { http: 2052, https: 2053 } as const;

/** An address that no edge listens on, or it would lead back to itself. */
export const ORIGIN = { host: "127.0.0.2", port: PORTS.http } as const;

export const PATHS = { small: "/small", large: "/large" } as const;

/** The port is the one that our edge then asks the origin on. */
export function urlOf(scheme: "http" | "https", host: string, path: string): string {
  return `${scheme}://${host}:${PORTS[scheme]}${path}`;
}

export function origin(leftovers: Leftovers): Contender {
  const program = new URL("../peers/origin.ts", import.meta.url);
  return peer(leftovers, { name: "the origin", program, task: ORIGIN });
}
