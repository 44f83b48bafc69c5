/** Where a request goes. The one place that knows the order: a script's route, then what comes later. */
import type { KnownName, ProxiedNames } from "./proxied-names.ts";
import { type Refusal, refusals } from "./refusals.ts";

export interface Asked {
  readonly scheme: "http" | "https";
  /** Lower case, without port and without a dot at its end. */
  readonly hostname: string;
  /** As the client sent it: path and query. */
  readonly target: string;
}

export type Destination =
  | { readonly kind: "script"; readonly scriptId: string }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Which script answers, if one does. `Routes` of the scripts is one. */
export interface ScriptRoutes {
  match(
    zoneId: string,
    hostname: string,
    target: string,
    scheme: Asked["scheme"],
  ): { readonly scriptId: string } | "none" | null;
  /** By a hostname of the script's own: a custom domain, or one under the platform's domain for scripts. */
  ownHost(hostname: string): { readonly scriptId: string } | null;
}

export interface DestinationOptions {
  readonly names: ProxiedNames;
  readonly routes: ScriptRoutes;
}

export function destinations({ names, routes }: DestinationOptions) {
  const within = (asked: Asked, { zone, proxied }: KnownName): Destination => {
    if (proxied.length === 0) return refused(refusals.notProxied(asked.hostname));
    const script = routes.match(zone.id, asked.hostname, asked.target, asked.scheme);
    if (script !== null && script !== "none") return { kind: "script", ...script };
    return refused(refusals.noRoute(asked.hostname));
  };
  return (asked: Asked): Destination | Promise<Destination> => {
    const own = routes.ownHost(asked.hostname);
    if (own !== null) return { kind: "script", ...own };
    const known = names.find(asked.hostname);
    if (known === null) return refused(refusals.unknownHost(asked.hostname));
    return known instanceof Promise
      ? known.then((found) => within(asked, found))
      : within(asked, known);
  };
}

function refused(refusal: Refusal): Destination {
  return { kind: "refused", refusal };
}
