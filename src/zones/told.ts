/** What the listeners have been told of each zone, so that they never hear half a change or an old one. */
import type { ChangedNames, ZoneListener } from "./listener.ts";
import type { Zone } from "./zone.ts";

export class Told {
  readonly #listener: ZoneListener;
  /** By id: each zone as it was told last. All that led to its serial has been told with it. */
  readonly #zones = new Map<string, Zone>();
  readonly #ids = new Map<string, string>();
  /** Zones that are gone for good, for those that come late with news of them. */
  #gone = new Set<string>();
  #goneBefore = new Set<string>();

  constructor(listener: ZoneListener) {
    this.#listener = listener;
  }

  /** The listeners have these zones by themselves. */
  begin(zones: readonly Zone[]): void {
    for (const zone of zones) if (!this.#zones.has(zone.id)) this.#set(zone);
  }

  /** The serial up to which the zone has been told, or 0. */
  serialOf(id: string): number {
    return this.#zones.get(id)?.serial ?? 0;
  }

  /** Whether there is nothing left to tell of the zone up to this serial. */
  knows(id: string, serial: number): boolean {
    return this.serialOf(id) >= serial || this.#gone.has(id) || this.#goneBefore.has(id);
  }

  ids(): Iterable<string> {
    return this.#zones.keys();
  }

  /**
   * Tells of a zone and of all names that changed after the serial `from`. False when changes before
   * that have not been told: then nothing is, since what lies between must come first.
   */
  changed(zone: Zone, names: ChangedNames, from: number): boolean {
    if (this.knows(zone.id, zone.serial)) return true;
    if (this.serialOf(zone.id) < from) return false;
    const namesake = this.#ids.get(zone.name);
    // A name goes to another zone only when the one that had it is gone.
    if (namesake !== undefined && namesake !== zone.id) this.removed(namesake);
    this.#set(zone);
    this.#listener.changed(zone, names);
    return true;
  }

  removed(id: string): void {
    this.#gone.add(id);
    const zone = this.#zones.get(id);
    if (zone === undefined) return;
    this.#zones.delete(id);
    this.#ids.delete(zone.name);
    this.#listener.removed(zone);
  }

  /** To be called now and then: zones that were gone at the last call too are forgotten. */
  forgetGone(): void {
    this.#goneBefore = this.#gone;
    this.#gone = new Set();
  }

  #set(zone: Zone): void {
    this.#zones.set(zone.id, zone);
    this.#ids.set(zone.name, zone.id);
  }
}
