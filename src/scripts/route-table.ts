/** The routes of a zone, and which of them a URL takes: the most specific one that matches. */
import { PrefixTable } from "./prefix-table.ts";
import type { RoutePattern, Scheme } from "./route-pattern.ts";

/** Where a route leads: to a script, or to none. */
export type Destination = { readonly scriptId: string } | "none";

/** Of one path: for each scheme its own route, else that for both. */
interface ByScheme {
  readonly http?: Destination;
  readonly https?: Destination;
  readonly both?: Destination;
}

/** Of one hostname. */
interface Paths {
  readonly exact: Map<string, ByScheme>;
  readonly beginnings: PrefixTable<ByScheme>;
}

type Hosts = Map<string, Paths> | PrefixTable<Paths>;

/**
 * The hostname counts first, then the path, then the scheme: what is written out goes before what has a `*`,
 * and with a `*` the longer goes first. Differs from the original, which counts slashes, so that there
 * `/images*` goes before `/images/*`, a known issue of its documentation.
 */
export class RouteTable {
  readonly #exact = new Map<string, Paths>();
  /** By what hostnames end with, backwards: so it is what they begin with. */
  readonly #endings = new PrefixTable<Paths>();

  set(pattern: RoutePattern, destination: Destination): void {
    const { path, anyPathAfter } = pattern;
    const { hosts, host } = this.#place(pattern);
    const paths = hosts.get(host) ?? noPaths();
    if (paths.exact.size + paths.beginnings.size === 0) hosts.set(host, paths);
    const places = anyPathAfter ? paths.beginnings : paths.exact;
    places.set(path, { ...places.get(path), [pattern.scheme ?? "both"]: destination });
  }

  match(hostname: string, pathAndQuery: string, scheme: Scheme): Destination | null {
    const pick = (paths: Paths) => matchPath(paths, pathAndQuery, scheme);
    const exact = this.#exact.get(hostname);
    const found = exact && pick(exact);
    if (found !== undefined || this.#endings.size === 0) return found ?? null;
    return this.#endings.find(reversed(hostname), pick) ?? null;
  }

  #place({ host, anyHostBefore }: RoutePattern): { hosts: Hosts; host: string } {
    return anyHostBefore
      ? { hosts: this.#endings, host: reversed(host) }
      : { hosts: this.#exact, host };
  }
}

function noPaths(): Paths {
  return { exact: new Map(), beginnings: new PrefixTable() };
}

function matchPath(paths: Paths, pathAndQuery: string, scheme: Scheme): Destination | undefined {
  const pick = (byScheme: ByScheme) => byScheme[scheme] ?? byScheme.both;
  const exact = paths.exact.get(pathAndQuery);
  return (exact && pick(exact)) ?? paths.beginnings.find(pathAndQuery, pick);
}

function reversed(host: string): string {
  let text = "";
  for (let at = host.length - 1; at >= 0; at--) text += host[at];
  return text;
}
