/** Puts together what threads ask for, and tells them by the generations when it is another. */
import type { Generations } from "#kit/generations.ts";
import type { PlacedRoutes } from "#scripts";
import type { ChangedNames, Zone, ZoneListener, ZoneRecord } from "#zones";
import type { KnownName, ProxiedNames } from "../proxied-names.ts";
import type { Fact, HostFacts, KeyPair, OriginFacts, ZoneFacts } from "./facts.ts";
import { zoneFacts } from "./zone-facts.ts";

export interface FactSourceOptions {
  readonly generations: Generations;
  readonly names: ProxiedNames;
  readonly routesOf: (zoneId: string) => PlacedRoutes;
  /** The script that has a hostname of its own, without a zone. */
  readonly ownScript: (hostname: string) => { readonly scriptId: string } | null;
  /** Whether a bucket answers at a hostname of the zone. */
  readonly isBucket: (hostname: string, zoneId: string) => boolean;
  readonly certificateFor: (hostname: string) => KeyPair | null;
  readonly now: () => number;
}

/** Topics beside the names of zones, and the ids of zones and scripts. */
export const TOPIC = {
  /** Which zones there are. */
  zones: " zones",
  /** Which scripts have hostnames of their own. */
  scripts: " scripts",
  certificates: " certificates",
  /** Which hostnames are buckets'. */
  buckets: " buckets",
} as const;

/** Certificates come into force and end with time alone; nobody chooses the second. */
const CERTIFICATE_MS = 60_000;
/** As the nameserver follows them: longer chains are loops, or mistakes. */
const MAX_CHAIN = 8;

export class FactSource implements ZoneListener {
  readonly #options: FactSourceOptions;

  constructor(options: FactSourceOptions) {
    this.#options = options;
  }

  changed(zone: Zone, changed: ChangedNames): void {
    const { names, generations } = this.#options;
    const isNew = names.zoneNamed(zone.name)?.id !== zone.id;
    names.changed(zone, changed);
    if (isNew) generations.moved(TOPIC.zones);
    generations.moved(zone.name);
  }

  removed(zone: Zone): void {
    const { names, generations } = this.#options;
    names.removed(zone);
    generations.moved(TOPIC.zones);
    generations.moved(zone.name);
  }

  async host(hostname: string): Promise<Fact<HostFacts>> {
    const { generations, names, ownScript, isBucket } = this.#options;
    const topics = [TOPIC.zones, TOPIC.scripts, TOPIC.buckets];
    let depends = generations.of(...topics);
    const own = ownScript(hostname);
    if (own !== null) return { value: { kind: "script", ...own }, depends };
    const zone = names.zoneOf(hostname);
    if (zone === null) return { value: { kind: "unknown" }, depends };
    depends = [...depends, ...generations.of(zone.name)];
    const { proxied } = (await names.find(hostname)) as KnownName;
    const value = {
      kind: "name",
      zoneName: zone.name,
      isBucket: isBucket(hostname, zone.id),
    } as const;
    if (proxied.length === 0) return { value: { ...value, origin: null }, depends };
    const { origin, passed } = await this.#follow(proxied);
    return { value: { ...value, origin }, depends: [...depends, ...passed] };
  }

  zone(name: string): Fact<ZoneFacts | null> {
    const { generations, names, routesOf } = this.#options;
    const zone = names.zoneNamed(name);
    if (zone === null) return { value: null, depends: null };
    const depends = generations.of(name, zone.id);
    return { value: zoneFacts(zone, routesOf(zone.id)), depends };
  }

  certificate(hostname: string): Fact<KeyPair | null> {
    const { generations, certificateFor, now } = this.#options;
    const depends = generations.of(TOPIC.zones, TOPIC.certificates);
    const served = certificateFor(hostname);
    const value = served && { cert: served.cert, key: served.key };
    return { value, depends, until: now() + CERTIFICATE_MS };
  }

  /** CNAMEs inside our zones to where they lead; empty when that is nowhere. */
  async #follow(proxied: readonly ZoneRecord[]) {
    const { generations, names } = this.#options;
    const passed: (readonly [number, number])[] = [];
    let records = proxied;
    for (let step = 0; step < MAX_CHAIN; step++) {
      const addresses = records.filter(({ type }) => type === "A" || type === "AAAA");
      const found = addresses.map(({ content }) => content);
      if (found.length > 0) return leadsTo({ addresses: found });
      const target = records.find(({ type }) => type === "CNAME")?.content.toLowerCase();
      if (target === undefined) break;
      const zone = names.zoneOf(target);
      if (zone === null) return leadsTo({ outside: target });
      passed.push(...generations.of(zone.name));
      records = (await names.recordsOf(target)) ?? [];
    }
    return leadsTo({ addresses: [] });

    function leadsTo(origin: OriginFacts) {
      return { origin, passed };
    }
  }
}
