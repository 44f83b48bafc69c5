/** Routes and custom domains: which script answers a URL. */
import { type Bound, type Database, isDatabaseFault, mustChangeOne } from "#db";
import { randomId } from "#kit/random.ts";
import { invalid, quoted, ScriptFault } from "./fault.ts";
import { LiveRoutes, type RouteListener, type RouteRow } from "./live-routes.ts";
import * as rows from "./route-rows.ts";
import { asciiHost, isWithin, parseRoutePattern, printRoutePattern } from "./route-pattern.ts";
import type { Scripts } from "./scripts.ts";
import { Turns } from "./turns.ts";
import type { PlacedRoutes } from "./zone-routes.ts";

export interface Route {
  readonly id: string;
  readonly zoneId: string;
  readonly pattern: string;
  /** Name of the script; null means that no script answers there. */
  readonly script: string | null;
}

export type RouteInput = Pick<Route, "pattern" | "script">;

/** A hostname that is a script's own. */
export interface ScriptDomain {
  readonly id: string;
  readonly accountId: string;
  readonly zoneId: string;
  readonly hostname: string;
  /** Name of the script. */
  readonly service: string;
  readonly environment: string;
}

export type DomainFilter = Partial<
  Pick<ScriptDomain, "zoneId" | "hostname" | "service" | "environment">
>;

export interface DomainInput {
  readonly hostname: string;
  readonly zoneId: string;
  readonly service: string;
  readonly environment?: string;
}

export interface RoutesOptions {
  readonly db: Database;
  readonly scripts: Scripts;
  /** Throws when there is no such zone. */
  readonly zone: (zoneId: string) => Promise<{ readonly name: string; readonly accountId: string }>;
}

/** Ten times what the original gives; each takes some hundred bytes of memory on every node. */
const MAX_ROUTES = 10_000;
const DEFAULT_ENVIRONMENT = "production";
/** Changes are made one after the other, so that memory has them in the order of the disk. */
const ONE_TURN = "routes";

export class Routes {
  readonly #options: RoutesOptions;
  readonly #live: LiveRoutes;
  readonly #turns = new Turns();

  private constructor(options: RoutesOptions, live: LiveRoutes) {
    this.#options = options;
    this.#live = live;
  }

  static async open(options: RoutesOptions): Promise<Routes> {
    const { db, scripts } = options;
    const live = await LiveRoutes.open(db, scripts.feed);
    scripts.follow({ changed: () => {}, removed: ({ id }) => live.removeScript(id) });
    return new Routes(options, live);
  }

  /** In the order of their patterns. */
  list(zoneId: string): Promise<Route[]> {
    return this.#options.db.all(rows.shownRoutesOfZone({ zoneId }));
  }

  async get(zoneId: string, id: string): Promise<Route> {
    const route = await this.#options.db.first(rows.shownRouteById({ zoneId, id }));
    if (route === null) throw noSuchRoute(id);
    return route;
  }

  add(zoneId: string, input: RouteInput): Promise<Route> {
    return this.#turns.take(ONE_TURN, async () => {
      this.#checkRoom(zoneId, 1);
      const route = await this.#read(zoneId, randomId(), input);
      await this.#checkFree(route);
      await this.#write([rows.addRoute(route)], [zoneId]);
      this.#live.set(route);
      return { id: route.id, zoneId, ...input };
    });
  }

  edit(zoneId: string, id: string, input: RouteInput): Promise<Route> {
    return this.#turns.take(ONE_TURN, async () => {
      await this.get(zoneId, id);
      const route = await this.#read(zoneId, id, input);
      await this.#checkFree(route);
      await this.#write([mustChangeOne(rows.setRoute(route))], [zoneId]);
      this.#live.set(route);
      return { id, zoneId, ...input };
    });
  }

  remove(zoneId: string, id: string): Promise<void> {
    return this.#turns.take(ONE_TURN, async () => {
      await this.get(zoneId, id);
      await this.#write([rows.removeRoute({ zoneId, id })], [zoneId]);
      this.#live.delete({ zoneId, id });
    });
  }

  /** The routes that lead to a script, in all zones. */
  async ofScript(accountId: string, name: string): Promise<Route[]> {
    const { id: scriptId } = await this.#options.scripts.get(accountId, name);
    return this.#options.db.all(rows.shownRoutesOfScript({ scriptId }));
  }

  /** Makes these the routes that lead to the script, all or nothing; others that lead to it go. */
  setForScript(
    accountId: string,
    name: string,
    wanted: readonly { readonly zoneId: string; readonly pattern: string }[],
  ): Promise<Route[]> {
    return this.#turns.take(ONE_TURN, async () => {
      const there = await this.ofScript(accountId, name);
      const routes = new Map<string, RouteRow & { pattern: string }>();
      for (const { zoneId, pattern } of wanted) {
        const route = await this.#read(zoneId, randomId(), { pattern, script: name });
        routes.set(`${zoneId} ${route.key}`, route);
      }
      const gone: Route[] = [];
      for (const route of there) {
        const { key } = await this.#read(route.zoneId, route.id, route);
        if (!routes.delete(`${route.zoneId} ${key}`)) gone.push(route);
      }
      const added = [...routes.values()];
      for (const route of added) await this.#checkFree(route);
      const zoneIds = new Set([...added, ...gone].map(({ zoneId }) => zoneId));
      for (const zoneId of zoneIds) {
        this.#checkRoom(zoneId, added.filter((route) => route.zoneId === zoneId).length);
      }
      const steps = [...gone.map(rows.removeRoute), ...added.map(rows.addRoute)];
      if (steps.length > 0) await this.#write(steps, [...zoneIds]);
      for (const route of gone) this.#live.delete(route);
      for (const route of added) this.#live.set(route);
      return this.ofScript(accountId, name);
    });
  }

  /** By hostname. */
  async domains(accountId: string, filter: DomainFilter = {}): Promise<ScriptDomain[]> {
    const all = await this.#options.db.all(rows.shownDomainsOfAccount({ accountId }));
    const wanted = Object.entries(filter) as [keyof DomainFilter, string][];
    return all.filter((domain) => wanted.every(([field, value]) => domain[field] === value));
  }

  async domain(accountId: string, id: string): Promise<ScriptDomain> {
    const domain = await this.#options.db.first(rows.shownDomainById({ accountId, id }));
    if (domain !== null) return domain;
    throw new ScriptFault("not-found", `There is no domain ${quoted(id)}`);
  }

  /** Makes the domain, or gives it to another script. */
  putDomain(accountId: string, input: DomainInput): Promise<ScriptDomain> {
    const { zoneId, service, environment = DEFAULT_ENVIRONMENT } = input;
    return this.#turns.take(ONE_TURN, async () => {
      const zone = await this.#options.zone(zoneId);
      const hostname = asciiHost(input.hostname);
      if (hostname === null || !isWithin(hostname, zone.name)) {
        const given = quoted(input.hostname);
        throw invalid(`hostname: ${given} is no name in the zone ${zone.name}`);
      }
      if (zone.accountId !== accountId) throw invalid("zone_id: the zone is another account's");
      const scriptId = await this.#scriptId(accountId, service, "service");
      const row = { id: randomId(), zoneId, hostname, scriptId, environment };
      const id = await this.#writeDomain(row);
      this.#live.setDomain(row);
      return { id, accountId, zoneId, hostname, service, environment };
    });
  }

  /** Returns the id that the domain has. */
  async #writeDomain(row: Parameters<typeof rows.putDomain>[0]): Promise<string> {
    const { db, scripts } = this.#options;
    const steps = scripts.feed.steps("domains", row.zoneId);
    try {
      const [{ rows: put }] = await db.write(mustChangeOne(rows.putDomain(row)), ...steps);
      scripts.feed.signal();
      return put[0]!.id;
    } catch (error) {
      if (isDatabaseFault(error, "guard")) {
        const hostname = quoted(row.hostname);
        throw new ScriptFault("exists", `hostname: ${hostname} is a script's of another account`);
      }
      if (!isDatabaseFault(error, "reference")) throw error;
      throw new ScriptFault("not-found", "The zone or the script has gone meanwhile");
    }
  }

  removeDomain(accountId: string, id: string): Promise<void> {
    return this.#turns.take(ONE_TURN, async () => {
      const { hostname, zoneId } = await this.domain(accountId, id);
      const { db, scripts } = this.#options;
      await db.write(rows.removeDomain({ id }), ...scripts.feed.steps("domains", zoneId));
      scripts.feed.signal();
      this.#live.deleteDomain(hostname);
    });
  }

  /** For `ZoneRoutes`. Pure memory. */
  ofZone(zoneId: string): PlacedRoutes {
    return this.#live.of(zoneId);
  }

  follow(listener: RouteListener): void {
    this.#live.follow(listener);
  }

  /** The zone is gone, and its rows with it. */
  removeZone(zoneId: string): void {
    this.#live.removeZone(zoneId);
  }

  async #read(zoneId: string, id: string, { pattern, script }: RouteInput) {
    const zone = await this.#options.zone(zoneId);
    const key = printRoutePattern(parseRoutePattern(pattern, zone.name));
    const scriptId =
      script === null ? null : await this.#scriptId(zone.accountId, script, "script");
    return { id, zoneId, pattern, key, scriptId };
  }

  async #scriptId(accountId: string, name: string, field: string): Promise<string> {
    try {
      return (await this.#options.scripts.get(accountId, name)).id;
    } catch (error) {
      if (!(error instanceof ScriptFault) || error.kind !== "not-found") throw error;
      throw invalid(`${field}: there is no script ${quoted(name)} in this account`);
    }
  }

  #checkRoom(zoneId: string, added: number): void {
    if (this.#live.sizeOf(zoneId) + added <= MAX_ROUTES) return;
    throw new ScriptFault("too-large", `A zone has at most ${MAX_ROUTES} routes`);
  }

  async #checkFree({ zoneId, key, id, pattern }: RouteRow & { pattern: string }): Promise<void> {
    const there = await this.#options.db.first(rows.routeByKey({ zoneId, key }));
    if (there === null || there.id === id) return;
    const where = there.script === null ? "no script" : `the script ${there.script}`;
    throw new ScriptFault(
      "exists",
      `There is a route ${quoted(pattern)} already, which leads to ${where}`,
    );
  }

  async #write(steps: readonly Bound[], zoneIds: readonly string[]): Promise<void> {
    const { db, scripts } = this.#options;
    try {
      await db.write(...steps, ...scripts.feed.steps("routes", ...zoneIds));
    } catch (error) {
      // Another node was faster.
      if (isDatabaseFault(error, "unique")) {
        throw new ScriptFault("exists", "There is a route with that pattern already");
      }
      if (isDatabaseFault(error, "reference") || isDatabaseFault(error, "guard")) {
        throw new ScriptFault("not-found", "The zone, the script or the route has gone meanwhile");
      }
      throw error;
    }
    scripts.feed.signal();
  }
}

function noSuchRoute(id: string): ScriptFault {
  return new ScriptFault("not-found", `There is no route ${quoted(id)}`);
}
