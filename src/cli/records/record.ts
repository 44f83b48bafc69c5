/** A record as the API shows it, as a line of a list and of a difference, and found by its name or id. */
import { suggestion } from "#kit/closest.ts";
import type { ApiClient } from "../api-client.ts";
import { CliFault } from "../fault.ts";
import type { Column } from "../table.ts";
import { asKept, type Zone } from "../zones/zone.ts";

export interface DnsRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly priority?: number;
  readonly ttl: number;
  readonly proxied: boolean;
  readonly comment: string | null;
  readonly tags: readonly string[];
}

/** What the API calls automatic. */
export const AUTOMATIC_TTL = 1;

function showTtl({ ttl }: DnsRecord): string {
  return ttl === AUTOMATIC_TTL ? "auto" : String(ttl);
}

/** With the priority where a zone file has it. */
function showContent({ content, priority }: DnsRecord): string {
  return priority === undefined ? content : `${priority} ${content}`;
}

export function recordLine(record: DnsRecord): string {
  const { name, type, proxied, comment, tags } = record;
  return [
    name,
    showTtl(record),
    type,
    showContent(record),
    ...(proxied ? ["proxied"] : []),
    ...(comment === null || comment === "" ? [] : [`; ${comment}`]),
    ...tags.map((tag) => `[${tag}]`),
  ].join(" ");
}

export function recordColumns(records: readonly DnsRecord[]): Column<DnsRecord>[] {
  const optional = (isShown: boolean, column: Column<DnsRecord>) => (isShown ? [column] : []);
  return [
    { title: "NAME", show: ({ name }) => name, style: "cyan", flexible: true },
    { title: "TYPE", show: ({ type }) => type },
    { title: "TTL", show: showTtl, align: "right" },
    { title: "CONTENT", show: showContent, flexible: true },
    ...optional(
      records.some(({ proxied }) => proxied),
      {
        title: "PROXIED",
        show: ({ proxied }) => (proxied ? "yes" : ""),
      },
    ),
    ...optional(
      records.some(({ comment }) => Boolean(comment)),
      {
        title: "COMMENT",
        show: ({ comment }) => comment ?? "",
        flexible: true,
      },
    ),
    ...optional(
      records.some(({ tags }) => tags.length > 0),
      {
        title: "TAGS",
        show: ({ tags }) => tags.join(" "),
        flexible: true,
      },
    ),
    { title: "ID", show: ({ id }) => id, style: "dim", droppable: true },
  ];
}

export const RECORD_HELP = "the record's name or id";
export const TYPE_HELP = "its type, where the name has several records";

/** Records among which a mistyped one is looked for; a zone may have a million. */
const LOOKED_AT = 5_000;

const ID = /^[0-9a-f]{32}$/;

/** The one record that is meant; an error that lists them when there are several. */
export async function findRecord(
  api: ApiClient,
  zone: Zone,
  wanted: string,
  type: string | undefined,
): Promise<DnsRecord> {
  const path = `/zones/${zone.id}/dns_records`;
  if (ID.test(wanted)) return api.get<DnsRecord>(`${path}/${wanted}`);
  const name = fullName(wanted, zone);
  const found = await api.all<DnsRecord>(path, { name, type });
  if (found.length === 1) return found[0]!;
  const what = type === undefined ? name : `${name} ${type.toUpperCase()}`;
  if (found.length > 1) {
    const listed = found.map((record) => `  ${record.id}  ${recordLine(record)}`).join("\n");
    const areMixed = type === undefined && new Set(found.map((record) => record.type)).size > 1;
    const how = areMixed ? "by its id, or give its TYPE" : "by its id";
    throw new CliFault("usage", `${what} has several records. Name one ${how}:\n${listed}`);
  }
  const some = await api.get<DnsRecord[]>(path, { per_page: LOOKED_AT });
  const names = some.map((record) => record.name);
  const there = names.includes(name) ? "" : suggestion(name, new Set(names));
  throw new CliFault("not-found", `There is no record ${what} in ${zone.name}.${there}`);
}

/** The apex is `@`; what does not end in the zone's name lies below it. */
export function fullName(given: string, zone: Zone): string {
  const name = asKept(given);
  if (name === "@" || name === zone.name) return zone.name;
  return given.endsWith(".") || name.endsWith(`.${zone.name}`) ? name : `${name}.${zone.name}`;
}
