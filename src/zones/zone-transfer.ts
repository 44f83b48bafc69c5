/** Zones as zone files: export, and import as one change. */
import {
  type AnyRecordType,
  isDnsFault,
  parseTrailer,
  printRecordLine,
  readZoneFile,
  recordType,
  type Tag,
  type ZoneError,
  type ZoneRecord as FileRecord,
} from "#dns";
import { randomId } from "#kit/random.ts";
import { shorten } from "#kit/shorten.ts";
import { byNeed, identityOf } from "./coexistence.ts";
import type { Draft } from "./draft.ts";
import { ZoneFault } from "./fault.ts";
import { AUTOMATIC_TTL, MAX_TTL } from "./limits.ts";
import { dataOf, typeOf, type ZoneRecord } from "./record.ts";
import { newRecord, RECORD_SETTINGS, type RecordFields, type Rules } from "./record-input.ts";
import type { Zone } from "./zone.ts";
import { zoneSettingOf } from "./zone-settings.ts";

export interface ImportResult {
  /** Records of the file, without those that the platform makes by itself. */
  readonly parsed: number;
  readonly added: number;
}

/** More faults than this are not told: the file is of another kind. */
const MAX_TOLD = 20;

/** Octets of a record in a zone file, to guess how many it has. */
const TYPICAL_LINE = 32;

/** Records taken in at a time, so that others get their turn. */
const STRETCH = 500;

/** Tags that begin so are reserved for what the record itself is. */
const TYPE_TAG = "cf-type";

/** Signatures and chains of another signer; the platform makes its own. */
const SIGNERS_TYPES: ReadonlySet<string> = new Set([
  "RRSIG",
  "NSEC",
  "NSEC3",
  "NSEC3PARAM",
  "DNSKEY",
]);

/**
 * Adds the records of a zone file. What is there already is passed over; what is wrong stops the
 * whole import, with the line of each fault.
 */
export async function importZoneFile(
  draft: Draft,
  rules: Rules,
  file: Uint8Array,
  proxied: boolean,
): Promise<ImportResult> {
  await draft.expect(file.length / TYPICAL_LINE);
  const faults: string[] = [];
  const late: FileRecord[] = [];
  let parsed = 0;
  let added = 0;
  const take = async (record: FileRecord) => {
    if (isOurs(record, rules)) return;
    if (++parsed % STRETCH === 0) await new Promise(setImmediate);
    try {
      if (await addFromFile(draft, rules, record, proxied)) added++;
    } catch (error) {
      const isFault =
        error instanceof ZoneFault ? error.kind !== "too-many-records" : isDnsFault(error);
      if (!isFault) throw error;
      faults.push(`line ${record.line}: ${(error as Error).message}`);
    }
  };
  for (const one of readZoneFile(file, { origin: `${rules.zone.name}.` })) {
    if ("reason" in one) faults.push(...(SIGNERS_TYPES.has(one.type ?? "") ? [] : [describe(one)]));
    else if (one.type === "NS" || one.type === "DS") late.push(one);
    else await take(one);
    if (faults.length > MAX_TOLD) break;
  }
  // Delegations come last, for a DS needs the NS records of its name.
  for (const record of late.sort(byNeed)) if (faults.length <= MAX_TOLD) await take(record);
  if (faults.length > 0) {
    const told = faults.slice(0, MAX_TOLD).join("; ");
    throw new ZoneFault(
      "bad-zone-file",
      `Nothing was imported: ${told}${faults.length > MAX_TOLD ? "; …" : ""}`,
      "/file",
    );
  }
  return { parsed, added };
}

function describe({ line, reason, text }: ZoneError): string {
  return `line ${line}: ${reason} (${shorten(text)})`;
}

/** The SOA, the apex's own name servers, and what another signer left. */
function isOurs({ owner, type, data, comment }: FileRecord, { zone, nameservers }: Rules): boolean {
  const isKept = comment !== null && comment.includes(`${TYPE_TAG}:`); // By an export of ours.
  if (type === "SOA" || (SIGNERS_TYPES.has(type) && !isKept)) return true;
  if (type !== "NS" || owner.toLowerCase() !== `${zone.name}.`) return false;
  const { content } = recordType("NS")!.api.show(data);
  return nameservers.includes(content);
}

async function addFromFile(
  draft: Draft,
  rules: Rules,
  file: FileRecord,
  proxied: boolean,
): Promise<boolean> {
  const { comment, tags } = parseTrailer(file.comment);
  const type = apiType(file, tags);
  const wanted = tags.find(({ name }) => name === "cf-proxied");
  const has = (tag: string) => tags.some(({ name }) => name === tag);
  const fields: RecordFields = {
    type: type.type,
    name: file.owner,
    input: {},
    data: type.type === file.type ? file.data : type.parse(recordType(file.type)!.print(file.data)),
    ttl: ttlWithin(file.ttl, rules),
    proxied: type.proxiable && (wanted === undefined ? proxied : wanted.value === "true"),
    comment,
    tags: tags.filter(({ name }) => !name.startsWith("cf-")).map(tagText),
    settings: Object.fromEntries(
      RECORD_SETTINGS.filter((setting) => has(SETTING_TAGS.get(setting)!)).map((setting) => [
        setting,
        true,
      ]),
    ),
  };
  const record = newRecord(fields, { id: randomId(), createdAt: rules.now }, rules);
  const there = await draft.recordsAt(record.name);
  if (there.some((other) => identityOf(other) === identityOf(record))) return false;
  await draft.add(record);
  return true;
}

/** Zone files of other servers have TTLs that no record here may have; the nearest takes their place. */
function ttlWithin(ttl: number | null, { zone }: Rules): number {
  // An export shows the automatic TTL as the number that it has in the API.
  if (ttl === null || ttl === AUTOMATIC_TTL) return AUTOMATIC_TTL;
  const floor = zoneSettingOf(zone.settings, "ttl_floor") as number;
  return Math.min(Math.max(ttl, floor), MAX_TTL);
}

/** SPF, DKIM and DMARC are TXT in a zone file; a tag tells that the record was kept as one of them. */
function apiType(file: FileRecord, tags: readonly Tag[]): AnyRecordType {
  const type = recordType(file.type)!;
  const kept = recordType(tags.find(({ name }) => name === TYPE_TAG)?.value ?? "");
  return kept?.wireType === type.type ? kept : type;
}

function tagText({ name, value }: Tag): string {
  return value === "" ? name : `${name}:${value}`;
}

/** `flatten_cname` is `cf-flatten-cname`, as the original exports it. */
const SETTING_TAGS: ReadonlyMap<string, string> = new Map(
  RECORD_SETTINGS.map((setting) => [setting, `cf-${setting.replaceAll("_", "-")}`]),
);

/** A line of the export, with the comment and the tags that bring the record back as it is. */
export function exportLine(record: ZoneRecord): string {
  const { comment = null, tags = [], settings = {} } = record.extra ?? {};
  const own = tags.map((tag): Tag => {
    const [name = "", ...value] = tag.split(":");
    return { name, value: value.join(":") };
  });
  const isHost = ["A", "AAAA", "CNAME"].includes(record.type);
  const ours: Tag[] = [
    ...(typeOf(record).wireType === record.type ? [] : [{ name: TYPE_TAG, value: record.type }]),
    ...(isHost ? [{ name: "cf-proxied", value: String(record.proxied) }] : []),
    ...RECORD_SETTINGS.filter((setting) => settings[setting] === true).map((setting) => ({
      name: SETTING_TAGS.get(setting)!,
      value: "",
    })),
    ...(record.type === "DNSKEY" ? [{ name: TYPE_TAG, value: record.type }] : []),
  ];
  const { name, ttl, type } = record;
  return printRecordLine(
    { owner: `${name}.`, ttl, type, data: dataOf(record) },
    { comment, tags: [...own, ...ours] },
  );
}

/** The lines above the records: the banner, the SOA and the name servers. */
export function exportHead(zone: Zone, nameservers: readonly string[], now: number): string[] {
  const { soa, nsTtl } = zone.dnsSettings;
  const at = new Date(now).toISOString().slice(0, 19).replace("T", " ");
  const mname = soa.mname ?? nameservers[0] ?? zone.name;
  const rname = soa.rname ?? `dns.${zone.name}`;
  const timers = [zone.serial, soa.refresh, soa.retry, soa.expire, soa.minTtl].join(" ");
  return [
    ";;",
    `;; Domain:     ${zone.name}.`,
    `;; Exported:   ${at}`,
    ";;",
    ";; This file holds the records of the zone. Edit its SOA and NS records before",
    ";; you use it on another server.",
    ";;",
    "",
    ";; SOA Record",
    `${zone.name}.\t${soa.ttl}\tIN\tSOA\t${mname}. ${rname}. ${timers}`,
    "",
    ";; NS Records",
    ...nameservers.map((name) => `${zone.name}.\t${nsTtl}\tIN\tNS\t${name}.`),
  ];
}
