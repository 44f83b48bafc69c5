/** The filters of the list of records: `name.contains`, `tag.exact`, `match=any` and the rest. */
import { z } from "zod";
import {
  ownerName,
  type RecordFilter,
  recordOrders,
  type TagFilter,
  type TextFilter,
  type Zone,
} from "#zones";
import { pageQuery } from "../shapes.ts";

const OPERATORS = ["exact", "contains", "startswith", "endswith"] as const;
const TAG_OPERATORS = [...OPERATORS, "present", "absent"] as const;

/** Names of query fields that may repeat. */
export const repeatedFields = ["tag", ...TAG_OPERATORS.map((operator) => `tag.${operator}`)];

const text = z.string().max(16_384).optional();
const texts = z.array(z.string().max(200)).max(100).optional();
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
  };
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

/** A whole name may be written as records are: `@`, with a last dot, in any script. */
function nameFilter(filter: TextFilter, zone: Zone): TextFilter {
  if (filter.operator !== "exact") return { ...filter, value: filter.value.replace(/\.$/, "") };
  const written = filter.value.trim().toLowerCase().replace(/\.$/, "");
  const isWhole = written === zone.name || written.endsWith(`.${zone.name}`) || written === "@";
  // A relative name is not a whole one: it matches nothing, as clients expect.
  return {
    ...filter,
    value: isWhole || /[^\x20-\x7e]/.test(written) ? ownerName(written, zone.name) : written,
  };
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
