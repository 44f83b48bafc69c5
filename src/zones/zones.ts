/** Zones: made, shown, changed, removed. */
import { type Database, isDatabaseFault, mustChangeOne, untilUndisturbed } from "#db";
import { randomId } from "#kit/random.ts";
import { defaultDnsSettings, type DnsSettings } from "./dns-settings.ts";
import { ZoneFault } from "./fault.ts";
import type { ChangedNames, ZoneListener } from "./listener.ts";
import * as rows from "./schema.ts";
import { nextSerial } from "./serial.ts";
import { settled, type Zone, zoneNameOf } from "./zone.ts";
import { type FollowOptions, ZoneFeed } from "./zone-feed.ts";
import { logSteps, REMOVED } from "./zone-log.ts";
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
  /** Puts this node's changes in line with those of others. */
  readonly #feed: ZoneFeed | null;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
    const listener: ZoneListener = {
      changed: (zone, names) => this.#listeners.forEach((one) => one.changed(zone, names)),
      removed: (zone) => this.#listeners.forEach((one) => one.removed(zone)),
    };
    this.#feed = db.shared ? new ZoneFeed(db, listener) : null;
  }

  /** Every zone there is; from here on the listener hears of every change. */
  async follow(listener: ZoneListener): Promise<Zone[]> {
    this.#listeners.push(listener);
    const zones = await this.#db.all(rows.everyZone({}));
    this.#feed?.begin(zones);
    return zones;
  }

  /** Lets the listeners hear of what other nodes change too. */
  async followOthers(options: FollowOptions): Promise<AsyncDisposable | null> {
    return this.#feed === null ? null : this.#feed.follow(options);
  }

  /** Tells the listeners of a change that is on disk, made to the zone as it was at the serial `from`. */
  async announce(zone: Zone, names: ChangedNames, from: number): Promise<void> {
    if (this.#feed !== null) await this.#feed.made(zone, names, from);
    else for (const listener of this.#listeners) listener.changed(zone, names);
  }

  async get(id: string): Promise<Zone> {
    const zone = await this.#db.first(rows.zoneById({ id }));
    if (zone === null) throw new ZoneFault("no-such-zone", `There is no zone ${id}`);
    return settled(zone, this.#now());
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
        await this.#db.write(rows.addZone(zone), ...logSteps(this.#db, zone.id, zone.serial));
      } catch (error) {
        // Another zone took the number, or the name: look again.
        if (!isDatabaseFault(error, "unique")) throw error;
        return this.create(accountId, given, type);
      }
      await this.announce(zone, NO_NAMES, 0);
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
  remove(id: string): Promise<void> {
    return untilUndisturbed(async () => {
      const zone = await this.get(id);
      await this.#db.write(
        // First, and it must be there: no change may come between, and its number may be another's by now.
        mustChangeOne(rows.removeZone({ id })),
        rows.removeRecordsOfZone({ zone: zone.number }),
        rows.removeHistoryOfZone({ zone: zone.number }),
        ...logSteps(this.#db, id, REMOVED),
      );
      if (this.#feed !== null) this.#feed.removed(zone);
      else for (const listener of this.#listeners) listener.removed(zone);
    });
  }

  #withSettings(zone: Zone, items: readonly (readonly [ZoneSettingId, unknown])[]) {
    const modifiedOn = this.#now();
    // Development mode begins anew each time that it is switched on.
    const changed = items.filter(
      ([id, value]) => id === "development_mode" || zone.settings[id]?.value !== value,
    );
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
      await this.#db.write(
        mustChangeOne(rows.setZone({ ...next, seen: zone.serial })),
        ...logSteps(this.#db, id, serial),
      );
      await this.announce(next, NO_NAMES, zone.serial);
      return next;
    });
  }
}
