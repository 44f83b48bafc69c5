/** All routes and custom domains in memory, where requests find their scripts. */
import type { Database } from "#db";
import * as rows from "./route-rows.ts";
import { type RoutePattern, type Scheme, splitRoutePattern } from "./route-pattern.ts";
import { type Destination, RouteTable } from "./route-table.ts";
import type { ScriptFeed } from "./script-feed.ts";

/** A route as it is kept. */
export interface RouteRow {
  readonly id: string;
  readonly zoneId: string;
  /** The pattern in its one form. */
  readonly key: string;
  readonly scriptId: string | null;
}

interface ZoneRoutes {
  readonly table: RouteTable;
  readonly routes: Map<
    string,
    { readonly pattern: RoutePattern; readonly scriptId: string | null }
  >;
}

interface DomainRow {
  readonly zoneId: string;
  readonly hostname: string;
  readonly scriptId: string;
}

export class LiveRoutes {
  readonly #db: Database;
  readonly #zones = new Map<string, ZoneRoutes>();
  /** By hostname. */
  #domains = new Map<string, DomainRow>();
  /** Counts what is changed here: what was read before may be old by then. */
  #changes = 0;

  private constructor(db: Database) {
    this.#db = db;
  }

  static async open(db: Database, feed: ScriptFeed): Promise<LiveRoutes> {
    const live = new LiveRoutes(db);
    feed.hear("routes", (zoneId) => (zoneId === null ? live.#readAll() : live.#readZone(zoneId)));
    feed.hear("domains", () => live.#readDomains());
    await live.#readAll();
    await live.#readDomains();
    return live;
  }

  match(zoneId: string, hostname: string, path: string, scheme: Scheme): Destination | null {
    const route = this.#zones.get(zoneId)?.table.match(hostname, path, scheme) ?? null;
    if (route !== null && route !== "none") return route;
    // A route without a script leads past scripts to the origin: with a custom domain that is its script.
    const domain = this.#domains.get(hostname);
    return domain?.zoneId === zoneId ? { scriptId: domain.scriptId } : route;
  }

  /** How many routes a zone has. */
  sizeOf(zoneId: string): number {
    return this.#zones.get(zoneId)?.routes.size ?? 0;
  }

  set(row: RouteRow): void {
    this.delete(row);
    const { id, zoneId, key, scriptId } = row;
    const zone = this.#zones.getOrInsertComputed(zoneId, noRoutes);
    const pattern = splitRoutePattern(key);
    zone.routes.set(id, { pattern, scriptId });
    zone.table.set(pattern, scriptId === null ? "none" : { scriptId });
  }

  delete({ zoneId, id }: Pick<RouteRow, "zoneId" | "id">): void {
    this.#changes++;
    const zone = this.#zones.get(zoneId);
    const route = zone?.routes.get(id);
    if (zone === undefined || route === undefined) return;
    zone.routes.delete(id);
    zone.table.delete(route.pattern);
    if (zone.routes.size === 0) this.#zones.delete(zoneId);
  }

  setDomain(row: DomainRow): void {
    this.#changes++;
    this.#domains.set(row.hostname, row);
  }

  deleteDomain(hostname: string): void {
    this.#changes++;
    this.#domains.delete(hostname);
  }

  removeZone(zoneId: string): void {
    this.#changes++;
    this.#zones.delete(zoneId);
    for (const domain of this.#domains.values()) {
      if (domain.zoneId === zoneId) this.#domains.delete(domain.hostname);
    }
  }

  removeScript(scriptId: string): void {
    this.#changes++;
    for (const [zoneId, { routes }] of this.#zones) {
      for (const [id, route] of routes)
        if (route.scriptId === scriptId) this.delete({ zoneId, id });
    }
    for (const domain of this.#domains.values()) {
      if (domain.scriptId === scriptId) this.#domains.delete(domain.hostname);
    }
  }

  async #readZone(zoneId: string): Promise<void> {
    const routes = await this.#undisturbed(() => this.#db.all(rows.routesOfZone({ zoneId })));
    this.#zones.delete(zoneId);
    for (const route of routes) this.set(route);
  }

  async #readAll(): Promise<void> {
    const routes = await this.#undisturbed(() => this.#db.all(rows.everyRoute({})));
    this.#zones.clear();
    for (const route of routes) this.set(route);
  }

  async #readDomains(): Promise<void> {
    const domains = await this.#undisturbed(() => this.#db.all(rows.everyDomain({})));
    this.#domains = new Map(domains.map((domain) => [domain.hostname, domain]));
  }

  /** Reads, again if something changed here meanwhile: that may be newer. */
  async #undisturbed<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      const changes = this.#changes;
      const found = await read();
      if (changes === this.#changes) return found;
    }
  }
}

function noRoutes(): ZoneRoutes {
  return { table: new RouteTable(), routes: new Map() };
}
