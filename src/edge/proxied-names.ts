/**
 * Which names the edge answers for: those with a proxied record. Read from the zone when a name is first
 * asked for and kept until the zone changes, so that memory follows the names in use, not the zones.
 */
import type { ChangedNames, Zone, ZoneListener, ZoneRecord } from "#zones";

/** A hostname of a zone that is served here. */
export interface KnownName {
  readonly zone: Zone;
  /** The proxied records that lead to its origin; none when the name is DNS-only or does not exist. */
  readonly proxied: readonly ZoneRecord[];
}

export interface ProxiedNamesOptions {
  /** The records of a zone at one name. */
  readonly recordsAt: (zone: Zone, name: string) => Promise<readonly ZoneRecord[]>;
}

/** Names kept at a time; each takes some hundred bytes. A stranger may ask for names without end. */
const MAX_KEPT = 20_000;

interface KnownZone {
  zone: Zone;
  /** By name. Replaced when the zone changes: what is read of the old one is not kept. */
  names: Map<string, KnownName>;
}

export class ProxiedNames implements ZoneListener {
  readonly #recordsAt: ProxiedNamesOptions["recordsAt"];
  readonly #zones = new Map<string, KnownZone>();
  #kept = 0;

  constructor({ recordsAt }: ProxiedNamesOptions) {
    this.#recordsAt = recordsAt;
  }

  load(zones: readonly Zone[]): void {
    // A change that came while they were read is newer.
    for (const zone of zones) if (!this.#zones.has(zone.name)) this.#take(zone);
  }

  changed(zone: Zone, _names: ChangedNames): void {
    const known = this.#zones.get(zone.name);
    // A wildcard, or a name that ends one, changes what others answer: all names are read again.
    if (known === undefined || known.zone.id !== zone.id || zone.serial >= known.zone.serial) {
      this.#take(zone);
    }
  }

  removed(zone: Zone): void {
    const known = this.#zones.get(zone.name);
    if (known?.zone.id !== zone.id) return; // A namesake may have come before this one went.
    this.#kept -= known.names.size;
    this.#zones.delete(zone.name);
  }

  zoneNamed(name: string): Zone | null {
    return this.#zones.get(name)?.zone ?? null;
  }

  /** The zone with the most labels that the name lies in. */
  zoneOf(hostname: string): Zone | null {
    return this.#zoneOf(hostname)?.zone ?? null;
  }

  /** What is known of a hostname (lower case, no dot at its end); null when no zone here has it. */
  find(hostname: string): KnownName | null | Promise<KnownName> {
    const known = this.#zoneOf(hostname);
    if (known === null) return null;
    return known.names.get(hostname) ?? this.#read(known, hostname);
  }

  /** All records that answer for a name, or its wildcard's; null when it lies in no zone here. */
  async recordsOf(hostname: string): Promise<readonly ZoneRecord[] | null> {
    const known = this.#zoneOf(hostname);
    return known === null ? null : this.#closest(known.zone, hostname);
  }

  #take(zone: Zone): void {
    this.#kept -= this.#zones.get(zone.name)?.names.size ?? 0;
    this.#zones.set(zone.name, { zone, names: new Map() });
  }

  #zoneOf(hostname: string): KnownZone | null {
    for (let at = 0; ;) {
      const known = this.#zones.get(at === 0 ? hostname : hostname.slice(at));
      if (known !== undefined) return known;
      const dot = hostname.indexOf(".", at);
      if (dot === -1) return null;
      at = dot + 1;
    }
  }

  async #read({ zone, names }: KnownZone, hostname: string): Promise<KnownName> {
    const records = await this.#closest(zone, hostname);
    const proxied = zone.paused ? [] : records.filter(leadsToOrigin);
    const found: KnownName = { zone, proxied };
    const known = this.#zones.get(zone.name);
    if (known?.names === names && !names.has(hostname)) {
      if (this.#kept >= MAX_KEPT) this.#forget();
      known.names.set(hostname, found);
      this.#kept++;
    }
    return found;
  }

  /**
   * The records at the name, else those of the wildcard nearest above it. RFC 4592 §3.3.1. (A name that
   * only has others below it ends a wildcard in DNS; here it does not, for no client is led to it.)
   */
  async #closest(zone: Zone, hostname: string): Promise<readonly ZoneRecord[]> {
    const own = await this.#recordsAt(zone, hostname);
    if (own.length > 0) return own;
    for (let above = hostname; above !== zone.name;) {
      above = above.slice(above.indexOf(".") + 1);
      const wildcard = await this.#recordsAt(zone, `*.${above}`);
      if (wildcard.length > 0) return wildcard;
      if (above !== zone.name && (await this.#recordsAt(zone, above)).length > 0) return [];
    }
    return [];
  }

  #forget(): void {
    for (const known of this.#zones.values()) known.names = new Map();
    this.#kept = 0;
  }
}

function leadsToOrigin({ type, proxied }: ZoneRecord): boolean {
  return proxied && (type === "A" || type === "AAAA" || type === "CNAME");
}
