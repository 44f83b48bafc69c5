/** When lifecycle rules have something done. Pure: rules and what they are held against come as arguments. */
import type { ObjectInfo, StorageClass } from "../model.ts";
import type { Upload } from "../upload-model.ts";
import {
  DAY_MS,
  type LifecycleFilter,
  type LifecycleRule,
  type LifecycleTime,
} from "../settings/lifecycle.ts";

/** What a rule is to do, and from when on: always a midnight. */
export interface Due {
  /** In ms since the epoch. */
  readonly at: number;
  readonly ruleId: string;
}

type Aged = Pick<ObjectInfo, "key" | "size" | "uploadedAt" | "storageClass" | "tags">;

export type DueAction =
  | { readonly kind: "expire" }
  | { readonly kind: "transition"; readonly storageClass: StorageClass };

/** What is to be done with an object by now. What expires need not be moved before. */
export function actionOn(
  rules: readonly LifecycleRule[],
  object: Aged,
  now: number,
): DueAction | null {
  const expiration = expirationOf(rules, object);
  if (expiration !== null && expiration.at <= now) return { kind: "expire" };
  for (const rule of rules) {
    for (const { when, storageClass } of rule.transitions) {
      const isDue = storageClass !== object.storageClass && dueAt(when, object.uploadedAt) <= now;
      if (isDue && isFor(rule, object)) return { kind: "transition", storageClass };
    }
  }
  return null;
}

/** When an object expires, by whichever rule comes first; null when none is for it. */
export function expirationOf(rules: readonly LifecycleRule[], object: Aged): Due | null {
  return earliest(rules, (rule) =>
    rule.expiration !== undefined && isFor(rule, object)
      ? dueAt(rule.expiration, object.uploadedAt)
      : null,
  );
}

/** When an upload that is not completed is aborted; null when no rule is for it. */
export function abortionOf(
  rules: readonly LifecycleRule[],
  { key, createdAt }: Pick<Upload, "key" | "createdAt">,
): Due | null {
  return earliest(rules, ({ enabled, filter, abortUploadsAfterDays: days }) =>
    days !== undefined && enabled && key.startsWith(filter.prefix ?? "")
      ? dueAt({ days }, createdAt)
      : null,
  );
}

function earliest(
  rules: readonly LifecycleRule[],
  dueBy: (rule: LifecycleRule) => number | null,
): Due | null {
  let first: Due | null = null;
  for (const rule of rules) {
    const at = dueBy(rule);
    if (at !== null && (first === null || at < first.at)) first = { at, ruleId: rule.id };
  }
  return first;
}

/** As S3 counts: from the first midnight after so many times 24 hours. */
function dueAt(when: LifecycleTime, since: number): number {
  return "date" in when ? when.date : Math.ceil(since / DAY_MS + when.days) * DAY_MS;
}

function isFor({ enabled, filter }: LifecycleRule, object: Aged): boolean {
  return enabled && passes(filter, object);
}

function passes(filter: LifecycleFilter, { key, size, tags }: Aged): boolean {
  const { prefix = "", largerThan = -1, smallerThan = Infinity } = filter;
  return (
    key.startsWith(prefix) &&
    size > largerThan &&
    size < smallerThan &&
    Object.entries(filter.tags ?? {}).every(
      ([name, value]) => Object.hasOwn(tags, name) && tags[name] === value,
    )
  );
}

/** The fewest prefixes under which everything lies that the rules may do something with. */
export function prefixesOf(rules: readonly LifecycleRule[]): string[] {
  const wanted = rules
    .filter(
      ({ enabled, expiration, transitions }) =>
        enabled && (expiration !== undefined || transitions.length > 0),
    )
    .map(({ filter }) => filter.prefix ?? "")
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const fewest: string[] = [];
  for (const prefix of wanted) {
    const last = fewest.at(-1);
    if (last === undefined || !prefix.startsWith(last)) fewest.push(prefix);
  }
  return fewest;
}
