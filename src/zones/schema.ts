/** The tables of zones and records, and the statements that read and write them. */
import {
  type Column,
  bytes,
  integer,
  json,
  maybe,
  type Migration,
  scanStatement,
  sharedJson,
  statement,
  text,
  time,
  word,
} from "#db";
import type { DnsSettings } from "./dns-settings.ts";
import { zoneLogMigration } from "./zone-log.ts";
import type { ZoneSettingValues } from "./zone-settings.ts";

export const zoneMigrations: readonly Migration[] = [
  {
    part: "zones",
    number: 1,
    sql: ({ text, integer, bytes }) => [
      // `number` stands for the zone in its records, where 32 digits a row would weigh more than the row.
      `CREATE TABLE IF NOT EXISTS zones (
        id ${text} PRIMARY KEY,
        number ${integer} NOT NULL UNIQUE,
        account_id ${text} NOT NULL REFERENCES accounts (id),
        name ${text} NOT NULL UNIQUE,
        status ${text} NOT NULL,
        type ${text} NOT NULL,
        paused ${integer} NOT NULL,
        vanity_name_servers ${text} NOT NULL,
        settings ${text} NOT NULL,
        dns_settings ${text} NOT NULL,
        serial ${integer} NOT NULL,
        first_serial ${integer} NOT NULL,
        records ${integer} NOT NULL,
        created_at ${integer} NOT NULL,
        modified_at ${integer} NOT NULL,
        activated_at ${integer}
      )`,
      `CREATE INDEX IF NOT EXISTS zones_by_account ON zones (account_id, name)`,
      `CREATE TABLE IF NOT EXISTS records (
        id ${bytes} PRIMARY KEY,
        zone ${integer} NOT NULL,
        name ${text} NOT NULL,
        type ${text} NOT NULL,
        content ${text} NOT NULL,
        priority ${integer},
        ttl ${integer} NOT NULL,
        proxied ${integer} NOT NULL,
        created_at ${integer} NOT NULL,
        modified_at ${integer} NOT NULL,
        extra ${text}
      )`,
      `CREATE INDEX IF NOT EXISTS records_by_name ON records (zone, name)`,
      // Lists go by type, then name; without this index each page would sort the whole zone.
      `CREATE INDEX IF NOT EXISTS records_by_type ON records (zone, type, name)`,
      // Every change of a zone: `changes` is deflated JSON of what was before and after.
      `CREATE TABLE IF NOT EXISTS zone_history (
        zone ${integer} NOT NULL,
        serial ${integer} NOT NULL,
        at ${integer} NOT NULL,
        actor ${text} NOT NULL,
        changes ${bytes} NOT NULL,
        PRIMARY KEY (zone, serial)
      )`,
    ],
  },
  zoneLogMigration,
];

export type ZoneStatus = "initializing" | "pending" | "active" | "moved";
export type ZoneType = "full" | "partial" | "secondary" | "internal";

/** What few records have: kept together, so that the many without pay nothing. */
export interface RecordExtra {
  readonly comment?: string;
  readonly commentModifiedAt?: number;
  readonly tags?: readonly string[];
  readonly tagsModifiedAt?: number;
  readonly settings?: Readonly<Record<string, boolean>>;
}

const boolean: Column<boolean> = {
  encode: (value) => (value ? 1 : 0),
  decode: (value) => Number(value) === 1,
};

/** 32 hex digits kept as 16 bytes. */
const id: Column<string> = {
  encode: (value) => Buffer.from(value, "hex"),
  decode: (value) => (value as Uint8Array).toHex(),
};

/** What of a zone's row a change may touch. */
const changeable = {
  status: word<ZoneStatus>(),
  type: word<ZoneType>(),
  paused: boolean,
  vanityNameServers: sharedJson<readonly string[]>(),
  settings: sharedJson<ZoneSettingValues>(),
  dnsSettings: sharedJson<DnsSettings>(),
  serial: integer,
  records: integer,
  modifiedAt: time,
  activatedAt: maybe(time),
};
export const zone = {
  id: text,
  number: integer,
  accountId: text,
  name: text,
  status: word<ZoneStatus>(),
  type: word<ZoneType>(),
  paused: boolean,
  vanityNameServers: sharedJson<readonly string[]>(),
  settings: sharedJson<ZoneSettingValues>(),
  dnsSettings: sharedJson<DnsSettings>(),
  serial: integer,
  firstSerial: integer,
  records: integer,
  createdAt: time,
  modifiedAt: time,
  activatedAt: maybe(time),
};
export const ZONE = `id, number, account_id, name, status, type, paused, vanity_name_servers, settings,
  dns_settings, serial, first_serial, records, created_at, modified_at, activated_at`;

export const zoneById = statement({
  sql: `SELECT ${ZONE} FROM zones WHERE id = :id`,
  takes: { id: text },
  gives: zone,
});
export const zoneByName = statement({
  sql: `SELECT ${ZONE} FROM zones WHERE name = :name`,
  takes: { name: text },
  gives: zone,
});
export const zonesOfAccount = statement({
  sql: `SELECT ${ZONE} FROM zones WHERE account_id = :accountId ORDER BY name`,
  takes: { accountId: text },
  gives: zone,
});
export const everyZone = statement({
  sql: `SELECT ${ZONE} FROM zones ORDER BY number`,
  gives: zone,
});
export const nextZoneNumber = statement({
  sql: "SELECT COALESCE(MAX(number), 0) + 1 FROM zones",
  gives: { number: integer },
});
export const addZone = statement({
  sql: `INSERT INTO zones (${ZONE}) VALUES (:id, :number, :accountId, :name, :status, :type, :paused,
        :vanityNameServers, :settings, :dnsSettings, :serial, :firstSerial, :records, :createdAt, :modifiedAt, :activatedAt)`,
  takes: zone,
});
export const setZone = statement({
  sql: `UPDATE zones SET status = :status, type = :type, paused = :paused, settings = :settings,
        vanity_name_servers = :vanityNameServers, dns_settings = :dnsSettings, serial = :serial,
        records = :records, modified_at = :modifiedAt, activated_at = :activatedAt
        WHERE id = :id AND serial = :seen`,
  takes: { ...changeable, id: text, seen: integer },
});
/** The zone after a change of its records: the rest of its row stays. */
export const moveZone = statement({
  sql: `UPDATE zones SET serial = :serial, records = :records, modified_at = :modifiedAt
        WHERE id = :id AND serial = :seen`,
  takes: { id: text, serial: integer, records: integer, modifiedAt: time, seen: integer },
});
export const removeZone = statement({
  sql: "DELETE FROM zones WHERE id = :id",
  takes: { id: text },
});
export const removeRecordsOfZone = statement({
  sql: "DELETE FROM records WHERE zone = :zone",
  takes: { zone: integer },
});
export const removeHistoryOfZone = statement({
  sql: "DELETE FROM zone_history WHERE zone = :zone",
  takes: { zone: integer },
});

export const record = {
  id,
  zone: integer,
  name: text,
  type: text,
  content: text,
  priority: maybe(integer),
  ttl: integer,
  proxied: boolean,
  createdAt: time,
  modifiedAt: time,
  extra: maybe(json<RecordExtra>()),
};
export const RECORD =
  "id, zone, name, type, content, priority, ttl, proxied, created_at, modified_at, extra";

export const recordById = statement({
  sql: `SELECT ${RECORD} FROM records WHERE id = :id AND zone = :zone`,
  takes: { id, zone: integer },
  gives: record,
});
export const recordsAtName = statement({
  sql: `SELECT ${RECORD} FROM records WHERE zone = :zone AND name = :name`,
  takes: { zone: integer, name: text },
  gives: record,
});
/** A stretch of the zone in the order of its index, to be walked through bit by bit. */
export const recordsFrom = statement({
  sql: `SELECT ${RECORD} FROM records
        WHERE zone = :zone AND (name > :afterName OR (name = :afterName AND id > :afterId))
        ORDER BY name, id LIMIT :limit`,
  takes: { zone: integer, afterName: text, afterId: id, limit: integer },
  gives: record,
});
export const nameserversOf = statement({
  sql: `SELECT ${RECORD} FROM records WHERE zone = :zone AND type = 'NS' ORDER BY name, id LIMIT :limit`,
  takes: { zone: integer, limit: integer },
  gives: record,
});
/** The names of a zone, each once; the index alone has the answer. */
export const countedNames = scanStatement<readonly [name: string, records: number]>()({
  sql: "SELECT name, COUNT(*) FROM records WHERE zone = :zone GROUP BY name ORDER BY name",
  takes: { zone: integer },
});
/** A row as the database gives it, for whoever reads a million of them; `extra` is JSON. */
export type RecordRow = readonly [
  zone: number,
  name: string,
  type: string,
  content: string,
  priority: number | null,
  ttl: number,
  proxied: number,
  extra: string | null,
];
/** The records of zones from one number to another, by zone and name. */
export const recordRows = scanStatement<RecordRow>()({
  sql: `SELECT zone, name, type, content, priority, ttl, proxied, extra FROM records
        WHERE zone >= :from AND zone <= :to ORDER BY zone, name`,
  takes: { from: integer, to: integer },
});
const pageOf = (order: string) => ({
  sql: `SELECT ${RECORD} FROM records WHERE zone = :zone ORDER BY ${order} LIMIT :limit OFFSET :offset`,
  takes: { zone: integer, limit: integer, offset: integer },
  gives: record,
});
/** Pages of a whole zone, in the orders that indexes give. */
export const recordPages = {
  "type asc": statement(pageOf("type, name, content, id")),
  "type desc": statement(pageOf("type DESC, name DESC, content DESC, id DESC")),
  "name asc": statement(pageOf("name, type, content, id")),
  "name desc": statement(pageOf("name DESC, type DESC, content DESC, id DESC")),
};
export const putRecord = statement({
  sql: `INSERT INTO records (${RECORD}) VALUES (:id, :zone, :name, :type, :content, :priority, :ttl,
        :proxied, :createdAt, :modifiedAt, :extra)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, type = excluded.type,
        content = excluded.content, priority = excluded.priority, ttl = excluded.ttl,
        proxied = excluded.proxied, modified_at = excluded.modified_at, extra = excluded.extra`,
  takes: record,
});
export const removeRecord = statement({
  sql: "DELETE FROM records WHERE id = :id",
  takes: { id },
});

export const addHistory = statement({
  sql: `INSERT INTO zone_history (zone, serial, at, actor, changes)
        VALUES (:zone, :serial, :at, :actor, :changes)`,
  takes: { zone: integer, serial: integer, at: time, actor: text, changes: bytes },
});
export const historyBelow = statement({
  sql: `SELECT serial, at, actor, changes FROM zone_history
        WHERE zone = :zone AND serial < :below ORDER BY serial DESC LIMIT :limit`,
  takes: { zone: integer, below: integer, limit: integer },
  gives: { serial: integer, at: time, actor: text, changes: bytes },
});
