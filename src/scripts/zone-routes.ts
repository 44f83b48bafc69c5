/** The routes and custom domains of one zone, made ready for its requests. */
import type { RoutePattern, Scheme } from "./route-pattern.ts";
import { type Destination, RouteTable } from "./route-table.ts";

export interface PlacedRoute {
  readonly pattern: RoutePattern;
  readonly scriptId: string | null;
}

/** All that decides which script of a zone answers: plain data, which goes from thread to thread. */
export interface PlacedRoutes {
  readonly routes: readonly PlacedRoute[];
  readonly domains: readonly { readonly hostname: string; readonly scriptId: string }[];
}

export class ZoneRoutes {
  readonly #table = new RouteTable();
  readonly #domains: ReadonlyMap<string, string>;

  constructor({ routes, domains }: PlacedRoutes) {
    for (const { pattern, scriptId } of routes) {
      this.#table.set(pattern, scriptId === null ? "none" : { scriptId });
    }
    this.#domains = new Map(domains.map(({ hostname, scriptId }) => [hostname, scriptId]));
  }

  /**
   * Where a request goes: to the script of the most specific route, or of the hostname's domain; "none"
   * where a route says so, null without a route. `hostname` is lower case without port.
   */
  match(hostname: string, pathAndQuery: string, scheme: Scheme): Destination | null {
    const route = this.#table.match(hostname, pathAndQuery, scheme);
    if (route !== null && route !== "none") return route;
    // A route without a script leads past scripts to the origin: with a custom domain that is its script.
    const scriptId = this.#domains.get(hostname);
    return scriptId === undefined ? route : { scriptId };
  }
}
