/** Which records a list shows: filters over one record, and the order of many. */
import { plainText } from "#dns";
import type { ZoneRecord } from "./record.ts";
import { isBelowDelegation } from "./shadow.ts";

/** How a text is compared; case never counts. */
export type TextOperator = "exact" | "contains" | "startswith" | "endswith";

export interface TextFilter {
  readonly operator: TextOperator;
  readonly value: string;
}

export interface TagFilter {
  readonly operator: TextOperator | "present" | "absent";
  readonly name: string;
  readonly value: string;
}

export interface RecordFilter {
  /** Absolute names, as they are kept. */
  readonly name: readonly TextFilter[];
  readonly content: readonly TextFilter[];
  readonly comment: readonly TextFilter[];
  readonly hasComment: boolean | null;
  readonly type: string | null;
  readonly proxied: boolean | null;
  readonly tags: readonly TagFilter[];
  readonly tagMatch: "any" | "all";
  /** Whether one of the filters is enough, or all must hold. What follows always must. */
  readonly match: "any" | "all";
  readonly search: string | null;
  /** Only the NS records at these names. */
  readonly delegating: readonly string[] | null;
  /** Only what a delegation at this name hides. */
  readonly shadowedBy: string | null;
}

export const recordOrders = ["type", "name", "content", "ttl", "proxied"] as const;
export type RecordOrder = (typeof recordOrders)[number];

/** Whether the filter lets every record through. */
export function isUnfiltered(filter: RecordFilter): boolean {
  const { name, content, comment, tags } = filter;
  const { hasComment, type, proxied, search, delegating, shadowedBy } = filter;
  const lists = [name, content, comment, tags].every((list) => list.length === 0);
  const others = [hasComment, type, proxied, search, delegating, shadowedBy];
  return lists && others.every((one) => one === null);
}

export function matches(record: ZoneRecord, filter: RecordFilter): boolean {
  if (!isWithin(record, filter)) return false;
  const comment = record.extra?.comment ?? "";
  const content = contentText(record.content);
  const conditions: boolean[] = [
    ...filter.name.map((one) => compare(record.name, one)),
    ...filter.content.map((one) => compare(content, { ...one, value: contentText(one.value) })),
    ...filter.comment.map((one) => comment !== "" && compare(comment, one)),
    ...(filter.hasComment === null ? [] : [(comment !== "") === filter.hasComment]),
    ...(filter.type === null ? [] : [record.type === filter.type]),
    ...(filter.proxied === null ? [] : [record.proxied === filter.proxied]),
    ...(filter.tags.length === 0 ? [] : [tagsMatch(record, filter)]),
  ];
  if (conditions.length === 0) return true;
  return filter.match === "any" ? conditions.some(Boolean) : conditions.every(Boolean);
}

/** What must hold whatever `match` says. */
function isWithin(record: ZoneRecord, { search, delegating, shadowedBy }: RecordFilter): boolean {
  if (search !== null && !found(record, search)) return false;
  if (shadowedBy !== null && !isBelowDelegation(record, shadowedBy)) return false;
  return delegating === null || (record.type === "NS" && delegating.includes(record.name));
}

/** Filters and searches mean the text, not its quoting, its case or its spacing. */
function contentText(content: string): string {
  const text = plainText(content);
  // Part of a quoted text has a quote at one end alone.
  return text.replaceAll(/^"|"$/g, "").trim().replaceAll(/\s+/g, " ");
}

function compare(text: string, { operator, value }: TextFilter): boolean {
  const [left, right] = [text.toLowerCase(), value.toLowerCase()];
  switch (operator) {
    case "exact":
      return left === right;
    case "contains":
      return left.includes(right);
    case "startswith":
      return left.startsWith(right);
    case "endswith":
      return left.endsWith(right);
    default:
      return operator satisfies never;
  }
}

function tagsMatch(record: ZoneRecord, { tags, tagMatch }: RecordFilter): boolean {
  const own = (record.extra?.tags ?? []).map((tag) => {
    const [name = "", ...value] = tag.split(":");
    return { name: name.toLowerCase(), value: value.join(":") };
  });
  const holds = ({ operator, name, value }: TagFilter) => {
    const named = own.filter((tag) => tag.name === name.toLowerCase());
    if (operator === "present") return named.length > 0;
    if (operator === "absent") return named.length === 0;
    return named.some((tag) => compare(tag.value, { operator, value }));
  };
  return tagMatch === "any" ? tags.some(holds) : tags.every(holds);
}

function found({ name, content, type, extra }: ZoneRecord, search: string): boolean {
  const all = [name, content, type, extra?.comment ?? "", ...(extra?.tags ?? [])].join("\n");
  return all.toLowerCase().includes(search.toLowerCase());
}

/** Sorts as asked; what is equal goes by type, name, content and id, so that pages are stable. */
export function comparing(order: RecordOrder, direction: "asc" | "desc") {
  const sign = direction === "asc" ? 1 : -1;
  return (a: ZoneRecord, b: ZoneRecord): number =>
    sign *
    (by(a[order], b[order]) ||
      by(a.type, b.type) ||
      by(a.name, b.name) ||
      by(a.content, b.content) ||
      by(a.id, b.id));
}

function by<T extends string | number | boolean>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
