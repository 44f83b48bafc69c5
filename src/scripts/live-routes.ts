/** All routes and custom domains in memory, where whoever leads requests finds them. */
import type { Database } from "#db";
import * as rows from "./route-rows.ts";
import { splitRoutePattern } from "./route-pattern.ts";
import type { ScriptFeed } from "./script-feed.ts";
import type { PlacedRoute, PlacedRoutes } from "./zone-routes.ts";

/** A route as it is kept. */
export interface RouteRow {
  readonly id: string;
  readonly zoneId: string;
  /** The pattern in its one form. */
  readonly key: string;
  readonly scriptId: string | null;
}

interface DomainRow {
  readonly zoneId: string;
  readonly hostname: string;
  readonly scriptId: string;
}

/** Hears of each change before whoever asked for it does. Null is all zones. */
export type RouteListener = (zoneId: string | null) => void;

export class LiveRoutes {
  readonly #db: Database;
  /** By zone, by id. */
  readonly #zones = new Map<string, Map<string, PlacedRoute>>();
  /** By hostname. */
  #domains = new Map<string, DomainRow>();
  /** Counts what is changed here: what was read before may be old by then. */
  #changes = 0;
  readonly #listeners: RouteListener[] = [];

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

  follow(listener: RouteListener): void {
    this.#listeners.push(listener);
  }

  of(zoneId: string): PlacedRoutes {
    const domains = [...this.#domains.values()].filter((domain) => domain.zoneId === zoneId);
    return { routes: [...(this.#zones.get(zoneId)?.values() ?? [])], domains };
  }

  /** How many routes a zone has. */
  sizeOf(zoneId: string): number {
    return this.#zones.get(zoneId)?.size ?? 0;
  }

  set({ id, zoneId, key, scriptId }: RouteRow): void {
    const routes = this.#zones.getOrInsertComputed(zoneId, () => new Map());
    routes.set(id, { pattern: splitRoutePattern(key), scriptId });
    this.#tell(zoneId);
  }

  delete({ zoneId, id }: Pick<RouteRow, "zoneId" | "id">): void {
    const routes = this.#zones.get(zoneId);
    routes?.delete(id);
    if (routes?.size === 0) this.#zones.delete(zoneId);
    this.#tell(zoneId);
  }

  setDomain(row: DomainRow): void {
    const before = this.#domains.get(row.hostname);
    this.#domains.set(row.hostname, row);
    this.#tell(row.zoneId);
    if (before !== undefined) this.#tell(before.zoneId);
  }

  deleteDomain(hostname: string): void {
    const domain = this.#domains.get(hostname);
    this.#domains.delete(hostname);
    if (domain !== undefined) this.#tell(domain.zoneId);
  }

  removeZone(zoneId: string): void {
    this.#zones.delete(zoneId);
    for (const domain of this.#domains.values()) {
      if (domain.zoneId === zoneId) this.#domains.delete(domain.hostname);
    }
    this.#tell(zoneId);
  }

  removeScript(scriptId: string): void {
    for (const [zoneId, routes] of this.#zones) {
      for (const [id, route] of routes)
        if (route.scriptId === scriptId) this.delete({ zoneId, id });
    }
    for (const domain of this.#domains.values()) {
      if (domain.scriptId === scriptId) this.deleteDomain(domain.hostname);
    }
  }

  async #readZone(zoneId: string): Promise<void> {
    const routes = await this.#undisturbed(() => this.#db.all(rows.routesOfZone({ zoneId })));
    this.#zones.delete(zoneId);
    for (const route of routes) this.set(route);
    this.#tell(zoneId);
  }

  async #readAll(): Promise<void> {
    const routes = await this.#undisturbed(() => this.#db.all(rows.everyRoute({})));
    this.#zones.clear();
    for (const route of routes) this.set(route);
    this.#tell(null);
  }

  async #readDomains(): Promise<void> {
    const domains = await this.#undisturbed(() => this.#db.all(rows.everyDomain({})));
    this.#domains = new Map(domains.map((domain) => [domain.hostname, domain]));
    this.#tell(null);
  }

  /** Reads, again if something changed here meanwhile: that may be newer. */
  async #undisturbed<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      const changes = this.#changes;
      const found = await read();
      if (changes === this.#changes) return found;
    }
  }

  #tell(zoneId: string | null): void {
    this.#changes++;
    for (const listener of this.#listeners) listener(zoneId);
  }
}
