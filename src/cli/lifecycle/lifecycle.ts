/** The lifecycle rules of a bucket as the API shows them, and what they do in words. */
import { askBucket } from "../buckets/ask.ts";
import type { Keys } from "../buckets/rules-file.ts";
import type { CommandContext } from "../context.ts";
import type { Column } from "../table.ts";
import { showSize } from "../units.ts";

export const DAY_SECONDS = 86_400;

export type When =
  | { readonly type: "Age"; readonly maxAge: number }
  | { readonly type: "Date"; readonly date: string };

export interface LifecycleRule {
  readonly id: string;
  readonly enabled: boolean;
  readonly conditions: {
    readonly prefix: string;
    readonly tags?: Readonly<Record<string, string>>;
    readonly objectSizeGreaterThan?: number;
    readonly objectSizeLessThan?: number;
  };
  readonly deleteObjectsTransition?: { readonly condition: When };
  readonly storageClassTransitions?: readonly {
    readonly condition: When;
    readonly storageClass: string;
  }[];
  readonly abortMultipartUploadsTransition?: { readonly condition: When };
  /** Kept for S3 tools: there are no versions here. */
  readonly forVersions?: object;
}

const when = { condition: { type: null, maxAge: null, date: null } };

export const lifecycleKeys: Keys = {
  id: null,
  enabled: null,
  conditions: { prefix: null, tags: null, objectSizeGreaterThan: null, objectSizeLessThan: null },
  deleteObjectsTransition: when,
  storageClassTransitions: { ...when, storageClass: null },
  abortMultipartUploadsTransition: when,
  forVersions: null,
};

export async function lifecycleRules(
  context: CommandContext,
  bucket: string,
): Promise<readonly LifecycleRule[]> {
  const place = "lifecycle";
  return (await askBucket<{ rules: LifecycleRule[] }>(context, bucket, { place })).rules;
}

/** In place of all that it has; none takes them away. */
export async function putRules(
  context: CommandContext,
  bucket: string,
  rules: readonly object[],
): Promise<void> {
  await askBucket(context, bucket, { method: "PUT", place: "lifecycle", body: { rules } });
}

/** A rule without a prefix is easily written, and empties a bucket: whoever writes one is asked. */
export async function confirmDeletes(
  context: CommandContext,
  bucket: string,
  rules: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const rule = rules.find(deletesAnyKey);
  if (rule === undefined) return;
  const question = `The rule ${String(rule["id"])} deletes objects of every key in ${bucket}. Set it?`;
  await context.confirm(question, "No rule was set.");
}

function deletesAnyKey(rule: Readonly<Record<string, unknown>>): boolean {
  const conditions = rule["conditions"] as { readonly prefix?: unknown } | null | undefined;
  return Boolean(rule["enabled"] && rule["deleteObjectsTransition"] && !conditions?.prefix);
}

/** `tmp/*`, and `*` for all. */
export function showObjects({ conditions }: LifecycleRule): string {
  const { prefix, tags = {}, objectSizeGreaterThan, objectSizeLessThan } = conditions;
  return [
    `${prefix}*`,
    ...Object.entries(tags).map(([name, value]) => `tagged ${name}=${value}`),
    ...(objectSizeGreaterThan === undefined ? [] : [`over ${showSize(objectSizeGreaterThan)}`]),
    ...(objectSizeLessThan === undefined ? [] : [`under ${showSize(objectSizeLessThan)}`]),
  ].join(", ");
}

/** `delete after 30 days, abort uploads after 1 day`. */
export function showDeeds(rule: LifecycleRule): string {
  const { deleteObjectsTransition: expire, storageClassTransitions: moves = [] } = rule;
  const { abortMultipartUploadsTransition: abort, forVersions } = rule;
  return [
    ...moves.map(({ condition, storageClass }) => `move to ${storageClass} ${showWhen(condition)}`),
    ...(expire === undefined ? [] : [`delete ${showWhen(expire.condition)}`]),
    ...(abort === undefined ? [] : [`abort uploads ${showWhen(abort.condition)}`]),
    ...(forVersions === undefined ? [] : ["for versions, of which there are none"]),
  ].join(", ");
}

function showWhen(condition: When): string {
  if (condition.type === "Date") return `from ${condition.date.slice(0, 10)} on`;
  const days = condition.maxAge / DAY_SECONDS;
  return days === 1 ? "after 1 day" : `after ${days} days`;
}

export const lifecycleColumns: readonly Column<LifecycleRule>[] = [
  { title: "NAME", show: ({ id }) => id, style: "cyan", flexible: true },
  { title: "STATE", show: ({ enabled }) => (enabled ? "on" : "off") },
  { title: "OBJECTS", show: showObjects, flexible: true },
  { title: "DOES", show: showDeeds, flexible: true },
];
