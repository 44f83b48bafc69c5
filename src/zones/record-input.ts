/** What a client may set of a record, held against the rules that need no other record. */
import { type AnyRecordType, recordType, type RecordInput } from "#dns";
import type { Ranges } from "#kit/cidr.ts";
import { shorten } from "#kit/shorten.ts";
import { ZoneFault } from "./fault.ts";
import * as limits from "./limits.ts";
import { nameFault, ownerName } from "./owner-name.ts";
import { dataOf, typeOf, type ZoneRecord } from "./record.ts";
import type { RecordExtra } from "./schema.ts";
import type { Zone } from "./zone.ts";
import { zoneSettingOf } from "./zone-settings.ts";

/** The fields of a create or an overwrite; an edit gives some of them. */
export interface RecordFields {
  readonly type?: string;
  readonly name?: string;
  readonly input: RecordInput;
  /** The data itself, where it has been read and checked already. */
  readonly data?: object;
  readonly ttl?: number;
  readonly proxied?: boolean;
  /** Null, and empty text, is no comment. */
  readonly comment?: string | null;
  readonly tags?: readonly string[];
  readonly settings?: Readonly<Record<string, boolean>>;
}

export interface Rules {
  readonly zone: Zone;
  readonly now: number;
  /** Addresses that records may not hold: the platform's own. */
  readonly platform: Ranges;
  /** The names of the platform's servers, which the apex has by itself. */
  readonly nameservers: readonly string[];
}

/** A new record, or an overwritten one: what is not given is at its default. */
export function newRecord(
  fields: RecordFields,
  identity: { id: string; createdAt: number },
  rules: Rules,
): ZoneRecord {
  const type = typeNamed(fields.type);
  if (fields.name === undefined)
    throw new ZoneFault("bad-name", "name is a required field.", "/name");
  const data = fields.data ?? type.api.accept(fields.input);
  const { content, priority = null } = type.api.show(data);
  // A zone file may hold an empty text, which the API takes from nobody.
  if (fields.data !== undefined && type.wireType === "TXT") type.api.accept({ content });
  const record: ZoneRecord = {
    id: identity.id,
    createdAt: identity.createdAt,
    zone: rules.zone.number,
    name: ownerName(fields.name, rules.zone.name),
    type: type.type,
    content,
    priority,
    ttl: limits.AUTOMATIC_TTL,
    proxied: false,
    modifiedAt: rules.now,
    extra: null,
  };
  return checked(withOptions(record, fields, rules), data, rules);
}

/** The record with only what is given changed. */
export function changedRecord(before: ZoneRecord, fields: RecordFields, rules: Rules): ZoneRecord {
  const type = fields.type === undefined ? typeOf(before) : typeNamed(fields.type);
  const data =
    type.type === before.type
      ? type.api.change(dataOf(before), fields.input)
      : type.api.accept(fields.input);
  const { content, priority = null } = type.api.show(data);
  const name = fields.name === undefined ? before.name : ownerName(fields.name, rules.zone.name);
  const record = { ...before, name, type: type.type, content, priority, modifiedAt: rules.now };
  return checked(withOptions(record, fields, rules), data, rules);
}

function typeNamed(name: string | undefined): AnyRecordType {
  if (name === undefined) throw new ZoneFault("bad-type", "type is a required field.", "/type");
  const type = recordType(name);
  // SOA is the zone's own; TYPE731 has no place in this API.
  if (type === null || type.type === "SOA" || /^TYPE\d/.test(type.type)) {
    throw new ZoneFault("bad-type", `DNS record type "${shorten(name)}" is invalid`, "/type");
  }
  return type;
}

/** TTL, proxy status, comment, tags and settings. */
function withOptions(record: ZoneRecord, fields: RecordFields, { zone, now }: Rules): ZoneRecord {
  const proxied = fields.proxied ?? record.proxied;
  const ttl = proxied ? limits.AUTOMATIC_TTL : (fields.ttl ?? record.ttl);
  checkTtl(ttl, zoneSettingOf(zone.settings, "ttl_floor") as number);
  const { comment, commentModifiedAt, tags, tagsModifiedAt, settings } = record.extra ?? {};
  const text = fields.comment === undefined ? comment : fields.comment?.trim() || undefined;
  const labels = fields.tags === undefined ? tags : withoutDoubles(fields.tags);
  const flags = fields.settings === undefined ? settings : fields.settings;
  if (text !== undefined) checkComment(text);
  labels?.forEach(checkTag);
  if ((labels?.length ?? 0) > limits.MAX_TAGS) {
    throw new ZoneFault("bad-tag", `A record has at most ${limits.MAX_TAGS} tags`, "/tags");
  }
  const extra: RecordExtra = {
    ...(text !== undefined && {
      comment: text,
      commentModifiedAt: text === comment ? commentModifiedAt! : now,
    }),
    ...(labels !== undefined &&
      labels.length > 0 && {
        tags: labels,
        tagsModifiedAt: sameTags(labels, tags) ? tagsModifiedAt! : now,
      }),
    ...(flags !== undefined && Object.keys(flags).length > 0 && { settings: flags }),
  };
  return { ...record, proxied, ttl, extra: Object.keys(extra).length === 0 ? null : extra };
}

function checked(record: ZoneRecord, data: object, rules: Rules): ZoneRecord {
  const { zone, platform, nameservers } = rules;
  const type = typeOf(record);
  const policy = zoneSettingOf(zone.settings, "name_policy") as "strict" | "rfc1123";
  const name = nameFault(record.name, record.type, zone.name, policy);
  if (name !== null) throw new ZoneFault("bad-name", name, "/name");
  if (record.proxied && !type.proxiable) {
    throw new ZoneFault("not-proxiable", "This record type cannot be proxied.", "/proxied");
  }
  if ((record.type === "A" || record.type === "AAAA") && platform.has(record.content)) {
    const message = `${record.content} is an address of this platform; a record cannot point back at it`;
    throw new ZoneFault("platform-address", message, "/content");
  }
  if (record.type === "CNAME" && record.content === record.name) {
    throw new ZoneFault("own-target", "A CNAME cannot point to its own name", "/content");
  }
  const isApex = record.name === zone.name;
  if (isApex && record.type === "NS" && nameservers.includes(record.content)) {
    const message = `${record.content} is a name server of this zone already`;
    throw new ZoneFault("own-nameserver", message, "/content");
  }
  if (type.encode(data).length > limits.MAX_RECORD_OCTETS) {
    const message = `The record's data is larger than ${limits.MAX_RECORD_OCTETS} octets`;
    throw new ZoneFault("too-large", message, "/content");
  }
  checkSettings(record);
  return record;
}

function checkTtl(ttl: number, floor: number): void {
  if (ttl === limits.AUTOMATIC_TTL || (ttl >= floor && ttl <= limits.MAX_TTL)) return;
  const message = `TTL must be between ${floor} and ${limits.MAX_TTL} seconds, or 1 for Automatic.`;
  throw new ZoneFault("bad-ttl", message, "/ttl");
}

/** Characters as people count them, not the units that they take in memory. */
function characters(text: string): number {
  return Array.from(text).length;
}

function checkComment(comment: string): void {
  if (characters(comment) <= limits.MAX_COMMENT && !/[\r\n]/.test(comment)) return;
  const message = `A comment has at most ${limits.MAX_COMMENT} characters and no line breaks`;
  throw new ZoneFault("bad-comment", message, "/comment");
}

function checkTag(tag: string, index: number): void {
  const [name = "", ...value] = tag.split(":");
  const isName = /^[A-Za-z0-9_-]+$/.test(name) && name.length <= limits.MAX_TAG_NAME;
  const text = value.join(":");
  const isValue = characters(text) <= limits.MAX_TAG_VALUE && !/[\r\n]/.test(text);
  if (isName && isValue && !/^cf-/i.test(name)) return;
  const message = `"${shorten(tag)}" is not a tag: name or name:value, the name of letters, digits, hyphens and underscores, not beginning with cf-`;
  throw new ZoneFault("bad-tag", message, `/tags/${index}`);
}

/** Names of tags are the same in any case, and `name:` is `name`, said at length. */
function withoutDoubles(given: readonly string[]): string[] {
  const tags = new Map<string, string>();
  for (const tag of given.map((text) => text.trim().replace(/:$/, ""))) {
    const key = tag.replace(/^[^:]*/, (name) => name.toLowerCase());
    if (!tags.has(key)) tags.set(key, tag);
  }
  return [...tags.values()];
}

function sameTags(a: readonly string[], b: readonly string[] | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((tag, i) => tag === b[i]);
}

export const RECORD_SETTINGS: readonly string[] = ["ipv4_only", "ipv6_only", "flatten_cname"];

function checkSettings({ extra, type }: ZoneRecord): void {
  if (extra?.settings?.["ipv4_only"] === true && extra.settings["ipv6_only"] === true) {
    const message = "ipv4_only and ipv6_only together leave no address";
    throw new ZoneFault("bad-record-setting", message, "/settings");
  }
  for (const [name, value] of Object.entries(extra?.settings ?? {})) {
    if (!RECORD_SETTINGS.includes(name)) {
      throw new ZoneFault(
        "bad-record-setting",
        `There is no record setting "${shorten(name)}"`,
        "/settings",
      );
    }
    if (name !== "flatten_cname" && !["A", "AAAA", "CNAME"].includes(type)) {
      throw new ZoneFault(
        "bad-record-setting",
        `${name} is for A, AAAA and CNAME records`,
        "/settings",
      );
    }
    if (name === "flatten_cname" && value && type !== "CNAME") {
      throw new ZoneFault("bad-record-setting", "Only a CNAME can be flattened", "/settings");
    }
  }
}
