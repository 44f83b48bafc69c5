/** The filters of the list of records: `name.contains`, `tag.exact`, `match=any` and the rest. */
import { z } from "zod";
import {
  namesAbove,
  ownerName,
  type RecordFilter,
  recordOrders,
  type TagFilter,
  type TextFilter,
  type Zone,
  ZoneFault,
} from "#zones";
import { invalidFields } from "../errors.ts";
import { pageQuery } from "../shapes.ts";
import { nameInFilter } from "../text-filter.ts";
import { shadowQuery } from "./shape.ts";

const OPERATORS = ["exact", "contains", "startswith", "endswith"] as const;
const TAG_OPERATORS = [...OPERATORS, "present", "absent"] as const;

/** Names of query fields that may repeat. */
export const repeatedFields = ["tag", ...TAG_OPERATORS.map((operator) => `tag.${operator}`)];

const text = z.string().max(16_384).optional();
const name = z.string().max(1_024).optional();
const texts = z.array(z.string().max(300)).max(100).optional();
const matching = z.enum(["any", "all"]);
const DEFAULT_PER_PAGE = 100;

const textFields = (name: string) =>
  Object.fromEntries(
    [name, ...OPERATORS.map((operator) => `${name}.${operator}`)].map((key) => [key, text]),
  );

export const recordsQuery = pageQuery.extend({
  ...textFields("name"),
  ...textFields("content"),
  ...textFields("comment"),
  ...Object.fromEntries(repeatedFields.map((key) => [key, texts])),
  "comment.present": z.string().optional(),
  "comment.absent": z.string().optional(),
  per_page: z.coerce.number().int().min(1).max(5_000_000).default(DEFAULT_PER_PAGE),
  type: z.string().max(20).optional(),
  proxied: z.stringbool().optional(),
  search: z.string().max(1_000).optional(),
  order: z.enum(recordOrders).default("type"),
  match: matching.default("all"),
  tag_match: matching.optional(),
  // cloudflare-go v0 writes a hyphen.
  "tag-match": matching.optional(),
  ...shadowQuery.shape,
  shadowing_name: name,
  shadowed_by_name: name,
});

type Query = Readonly<Record<string, unknown>> & z.output<typeof recordsQuery>;

export function filterOf(zone: Zone, query: Query): RecordFilter {
  const present = query["comment.present"] !== undefined;
  const absent = query["comment.absent"] !== undefined;
  return {
    name: textFilters(query, "name").map((filter) => nameFilter(filter, zone)),
    content: textFilters(query, "content"),
    comment: textFilters(query, "comment"),
    hasComment: present ? true : absent ? false : null,
    type: query.type?.toUpperCase() ?? null,
    proxied: query.proxied ?? null,
    tags: tagFilters(query),
    tagMatch: query.tag_match ?? query["tag-match"] ?? "all",
    match: query.match,
    search: query.search === undefined || query.search === "" ? null : query.search,
    ...shadowFilters(zone, query),
  };
}

/** Which NS records hide a name, and what a name's NS records hide. */
function shadowFilters(zone: Zone, query: Query): Pick<RecordFilter, "delegating" | "shadowedBy"> {
  const { shadowing_name: shadowing, shadowed_by_name: shadowedBy } = query;
  if (shadowedBy !== undefined && !query.include_shadow_metadata) {
    const message = "shadowed_by_name needs include_shadow_metadata=true";
    throw invalidFields([{ pointer: "/shadowed_by_name", message }]);
  }
  return {
    delegating:
      shadowing === undefined
        ? null
        : namesAbove(belowApex(shadowing, zone, "shadowing_name"), zone.name),
    shadowedBy: shadowedBy === undefined ? null : belowApex(shadowedBy, zone, "shadowed_by_name"),
  };
}

/** A whole name below the zone's own. */
function belowApex(given: string, zone: Zone, field: string): string {
  const name = wholeName(given, zone);
  if (name !== null && name !== zone.name) return name;
  const message = `${field} must be a name below ${zone.name}, in full`;
  throw invalidFields([{ pointer: `/${field}`, message }]);
}

/** A field alone is the same as with `.exact`. */
function textFilters(query: Query, name: string): TextFilter[] {
  const plain = query[name] as string | undefined;
  return [
    ...(plain === undefined ? [] : [{ operator: "exact" as const, value: plain }]),
    ...OPERATORS.flatMap((operator) => {
      const value = query[`${name}.${operator}`] as string | undefined;
      return value === undefined ? [] : [{ operator, value }];
    }),
  ];
}

/** Names are compared as they are kept, in punycode. What is no name of the zone matches nothing. */
function nameFilter(filter: TextFilter, zone: Zone): TextFilter {
  const { operator, value } = filter;
  const whole = operator === "exact" ? wholeName(value, zone) : null;
  return { ...filter, value: whole ?? nameInFilter(value) };
}

/**
 * The name as it is kept. It may be written as records are: `@`, with a last dot, in any script; but
 * not relative, which clients do not expect to find. Null for that, and for what is no name at all.
 */
function wholeName(given: string, zone: Zone): string | null {
  const written = nameInFilter(given.trim()).toLowerCase();
  const isWhole = written === "@" || written === zone.name || written.endsWith(`.${zone.name}`);
  try {
    return isWhole ? ownerName(written, zone.name) : null;
  } catch (error) {
    if (error instanceof ZoneFault) return null;
    throw error;
  }
}

function tagFilters(query: Query): TagFilter[] {
  const split = (tag: string) => {
    const [name = "", ...value] = tag.split(":");
    return { name, value: value.join(":") };
  };
  const plain = ((query["tag"] ?? []) as string[]).map((tag) => ({
    operator: tag.includes(":") ? ("exact" as const) : ("present" as const),
    ...split(tag),
  }));
  const named = TAG_OPERATORS.flatMap((operator) =>
    ((query[`tag.${operator}`] ?? []) as string[]).map((tag) => ({ operator, ...split(tag) })),
  );
  return [...plain, ...named];
}
