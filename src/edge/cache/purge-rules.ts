/**
 * Purges as rules that stored responses are held against when they are next asked for, so that a purge of
 * whatever size takes no time. Purges are numbered; a response carries the number of the last one that was
 * known when it was asked for, and only later ones can mean it: no clock is involved.
 */
import { keyParts } from "./cache-key.ts";

export interface Purge {
  readonly zoneId: string;
  readonly kind: "everything" | "host" | "url" | "prefix";
  /** The host, the URL without its scheme, or the prefix of such a URL; empty for everything. */
  readonly value: string;
}

export interface NumberedPurge extends Purge {
  readonly number: number;
}

interface ZoneRules {
  everything: number;
  readonly hosts: Map<string, number>;
  readonly urls: Map<string, number>;
  readonly prefixes: Map<string, number>;
}

/** Rules of a zone; with more it is purged as a whole, which costs its origin and never shows old content. */
const MAX_RULES = 10_000;
/** Each response is held against all of them once. */
const MAX_PREFIXES = 500;

export class PurgeRules {
  readonly #zones = new Map<string, ZoneRules>();
  /** What was asked for before is not known to be unpurged. */
  #floor: number;
  #last: number;

  constructor(floor = 0) {
    this.#floor = floor;
    this.#last = floor;
  }

  /** The number of the last purge that is known. */
  get last(): number {
    return this.#last;
  }

  /** In the order of their numbers. Where some are missing, all that is stored is doubtful. */
  add(purges: readonly NumberedPurge[]): void {
    for (const purge of purges) {
      if (purge.number <= this.#last) continue;
      if (purge.number > this.#last + 1) this.#floor = purge.number - 1;
      this.#last = purge.number;
      this.#take(purge);
    }
  }

  #take({ zoneId, kind, value, number }: NumberedPurge): void {
    const rules = this.#zones.get(zoneId) ?? {
      everything: 0,
      hosts: new Map(),
      urls: new Map(),
      prefixes: new Map(),
    };
    this.#zones.set(zoneId, rules);
    if (kind === "host") rules.hosts.set(value, number);
    else if (kind === "url") rules.urls.set(value, number);
    else if (kind === "prefix") rules.prefixes.set(value, number);
    const { hosts, urls, prefixes } = rules;
    const count = hosts.size + urls.size + prefixes.size;
    if (kind === "everything" || count > MAX_RULES || prefixes.size > MAX_PREFIXES) {
      this.#zones.set(zoneId, {
        everything: number,
        hosts: new Map(),
        urls: new Map(),
        prefixes: new Map(),
      });
    }
  }

  /** Whether a response under the key, asked for when `since` was the last purge, is purged. */
  isPurged(key: string, since: number): boolean {
    // A number from the future is one of another database.
    if (since < this.#floor || since > this.#last) return true;
    if (since === this.#last) return false;
    const { zoneId, hostname, address } = keyParts(key);
    const rules = this.#zones.get(zoneId);
    if (rules === undefined) return false;
    const { everything, hosts, urls, prefixes } = rules;
    if (everything > since) return true;
    if ((hosts.get(hostname) ?? 0) > since || (urls.get(address) ?? 0) > since) return true;
    for (const [prefix, number] of prefixes) {
      if (number > since && address.startsWith(prefix)) return true;
    }
    return false;
  }
}
