/** Zones: made, shown, changed, removed. */
import { type Database, isDatabaseFault, mustChangeOne, untilUndisturbed } from "#db";
import { randomId } from "#kit/random.ts";
import { defaultDnsSettings, type DnsSettings } from "./dns-settings.ts";
import { ZoneFault } from "./fault.ts";
import type { ChangedNames, ZoneListener } from "./listener.ts";
import * as rows from "./schema.ts";
import { nextSerial } from "./serial.ts";
import { settled, type Zone, zoneNameOf } from "./zone.ts";
import { checkZoneSetting, type ZoneSettingId } from "./zone-settings.ts";

/** What of a zone an edit may change. */
export interface ZoneEdit {
  readonly paused?: boolean;
  readonly type?: rows.ZoneType;
  readonly vanityNameServers?: readonly string[];
}

const NO_NAMES: ChangedNames = new Map();

export class Zones {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #listeners: ZoneListener[] = [];

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /** From now on the listener hears of every change that this node makes. */
  tell(listener: ZoneListener): void {
    this.#listeners.push(listener);
  }

  /** Tells the listeners of a change that is on disk. */
  announce(zone: Zone, names: ChangedNames): void {
    for (const listener of this.#listeners) listener.changed(zone, names);
  }

  async get(id: string): Promise<Zone> {
    const zone = await this.#db.first(rows.zoneById({ id }));
    if (zone === null) throw new ZoneFault("no-such-zone", `There is no zone ${id}`);
    return settled(zone, this.#now());
  }

  /** Every zone there is. */
  all(): Promise<Zone[]> {
    return this.#db.all(rows.everyZone({}));
  }

  /** The zones of these accounts, by name. */
  async list(accountIds: readonly string[]): Promise<Zone[]> {
    const lists = await Promise.all(
      accountIds.map((accountId) => this.#db.all(rows.zonesOfAccount({ accountId }))),
    );
    const now = this.#now();
    const zones = lists.flat().map((zone) => settled(zone, now));
    return zones.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async create(accountId: string, given: string, type: rows.ZoneType): Promise<Zone> {
    const name = zoneNameOf(given);
    return untilUndisturbed(async () => {
      if ((await this.#db.first(rows.zoneByName({ name }))) !== null) {
        throw new ZoneFault("zone-exists", `${name} already exists`, "/name");
      }
      const { number } = (await this.#db.first(rows.nextZoneNumber({})))!;
      const at = this.#now();
      const zone: Zone = {
        id: randomId(),
        number,
        accountId,
        name,
        status: "pending",
        type,
        paused: false,
        vanityNameServers: [],
        settings: {},
        dnsSettings: defaultDnsSettings,
        serial: nextSerial(0, at),
        firstSerial: nextSerial(0, at),
        records: 0,
        createdAt: at,
        modifiedAt: at,
        activatedAt: null,
      };
      try {
        await this.#db.write(rows.addZone(zone));
      } catch (error) {
        // Another zone took the number, or the name: look again.
        if (!isDatabaseFault(error, "unique")) throw error;
        return this.create(accountId, given, type);
      }
      this.announce(zone, NO_NAMES);
      return zone;
    });
  }

  edit(id: string, change: ZoneEdit): Promise<Zone> {
    return this.#change(id, () => change);
  }

  /** Makes the zone active now rather than when it has settled. */
  activate(id: string): Promise<Zone> {
    return this.#change(id, (zone) => ({
      status: "active",
      activatedAt: zone.activatedAt ?? this.#now(),
    }));
  }

  editDnsSettings(id: string, change: (settings: DnsSettings) => DnsSettings): Promise<Zone> {
    return this.#change(id, (zone) => {
      const dnsSettings = change(zone.dnsSettings);
      const { flattenAllCnames } = dnsSettings;
      if (flattenAllCnames === zone.dnsSettings.flattenAllCnames) return { dnsSettings };
      // The older setting is the same fact.
      const value = flattenAllCnames ? "flatten_all" : "flatten_at_root";
      return { dnsSettings, settings: this.#withSettings(zone, [["cname_flattening", value]]) };
    });
  }

  /** Sets settings, all or none. */
  async editSettings(
    id: string,
    items: readonly (readonly [id: string, value: unknown])[],
  ): Promise<Zone> {
    for (const [settingId, value] of items) checkZoneSetting(settingId, value);
    return this.#change(id, (zone) => {
      const settings = this.#withSettings(zone, items as readonly [ZoneSettingId, unknown][]);
      const flattenAllCnames = settings.cname_flattening?.value === "flatten_all";
      return { settings, dnsSettings: { ...zone.dnsSettings, flattenAllCnames } };
    });
  }

  /** Removes the zone with its records and its history. */
  async remove(id: string): Promise<void> {
    const zone = await this.get(id);
    await this.#db.write(
      rows.removeRecordsOfZone({ zone: zone.number }),
      rows.removeHistoryOfZone({ zone: zone.number }),
      rows.removeZone({ id }),
    );
    for (const listener of this.#listeners) listener.removed(zone);
  }

  #withSettings(zone: Zone, items: readonly (readonly [ZoneSettingId, unknown])[]) {
    const modifiedOn = this.#now();
    const changed = items.filter(([id, value]) => zone.settings[id]?.value !== value);
    const entries = changed.map(([id, value]) => [id, { value, modifiedOn }] as const);
    return { ...zone.settings, ...Object.fromEntries(entries) };
  }

  /** A change of the zone itself is a change like any other: its serial moves. */
  #change(id: string, change: (zone: Zone) => Partial<Zone>): Promise<Zone> {
    return untilUndisturbed(async () => {
      const zone = await this.get(id);
      const modifiedAt = this.#now();
      const serial = nextSerial(zone.serial, modifiedAt);
      const next = { ...zone, ...change(zone), serial, modifiedAt };
      await this.#db.write(mustChangeOne(rows.setZone({ ...next, seen: zone.serial })));
      this.announce(next, NO_NAMES);
      return next;
    });
  }
}
