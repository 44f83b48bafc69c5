/** What becomes of a bucket's objects and uploads with time: as S3 has it, in days from midnight to midnight. */
import { ObjectFault } from "../fault.ts";
import type { StorageClass } from "../model.ts";

/** So many days after an object came, or from a day on. */
export type LifecycleTime =
  | { readonly days: number }
  /** In ms since the epoch, at midnight UTC. */
  | { readonly date: number };

export interface LifecycleFilter {
  readonly prefix?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** In octets, exclusive, like the next. */
  readonly largerThan?: number;
  readonly smallerThan?: number;
  /** How S3 wrote it, to be written so again: beside the rule, alone, or under And. */
  readonly form: "rule" | "filter" | "and";
}

export interface LifecycleTransition {
  readonly when: LifecycleTime;
  readonly storageClass: StorageClass;
}

export interface LifecycleRule {
  readonly id: string;
  readonly enabled: boolean;
  readonly filter: LifecycleFilter;
  readonly expiration?: LifecycleTime;
  readonly transitions: readonly LifecycleTransition[];
  readonly abortUploadsAfterDays?: number;
  /** What is meant for old versions, of which there are none here: kept for who reads it back. */
  readonly forVersions?: LifecycleForVersions;
}

export interface LifecycleForVersions {
  readonly expiredDeleteMarker?: boolean;
  readonly expiration?: { readonly days: number; readonly kept?: number };
  readonly transitions?: readonly {
    readonly days: number;
    readonly kept?: number;
    readonly storageClass: StorageClass;
  }[];
}

/** Those of S3. */
const MAX_RULES = 1_000;
const MAX_ID_CHARACTERS = 255;
const MAX_PREFIX_OCTETS = 1_024;
/** So that every date stays within those that can be shown, which end after 100 million days. */
const MAX_DAYS = 90_000_000;
export const DAY_MS = 86_400_000;

/** Throws unless rules can be kept. */
export function checkLifecycle(rules: readonly LifecycleRule[]): void {
  if (rules.length === 0) throw bad("There must be a rule");
  if (rules.length > MAX_RULES) throw bad(`There may be at most ${MAX_RULES} rules`);
  const ids = new Set<string>();
  for (const rule of rules) {
    checkRule(rule);
    if (ids.has(rule.id)) throw bad(`Two rules have the ID ${JSON.stringify(rule.id)}`);
    ids.add(rule.id);
  }
}

function checkRule(rule: LifecycleRule): void {
  const { id, filter, expiration, transitions, abortUploadsAfterDays, forVersions } = rule;
  if (id.length === 0 || id.length > MAX_ID_CHARACTERS) {
    throw bad(`A rule's ID has from 1 to ${MAX_ID_CHARACTERS} characters`);
  }
  checkFilter(filter);
  if (expiration !== undefined) checkTime(expiration, "Expiration");
  for (const { when } of transitions) checkTime(when, "Transition");
  if (new Set(transitions.map(({ storageClass }) => storageClass)).size < transitions.length) {
    throw bad("A rule has one transition to a storage class");
  }
  if (abortUploadsAfterDays !== undefined) {
    checkDays(abortUploadsAfterDays, "DaysAfterInitiation");
    const goesBy = filter.tags ?? filter.largerThan ?? filter.smallerThan;
    if (goesBy !== undefined) {
      throw bad(
        "AbortIncompleteMultipartUpload goes by prefix only: an upload has no tags or size",
      );
    }
  }
  for (const { days } of [forVersions?.expiration, ...(forVersions?.transitions ?? [])].filter(
    (entry) => entry !== undefined,
  )) {
    checkDays(days, "NoncurrentDays");
  }
  const hasAction = expiration ?? transitions[0] ?? abortUploadsAfterDays ?? forVersions;
  if (hasAction === undefined) throw bad("A rule must say what is to be done");
}

function checkFilter({ prefix = "", tags = {}, largerThan, smallerThan }: LifecycleFilter): void {
  if (Buffer.byteLength(prefix) > MAX_PREFIX_OCTETS || !prefix.isWellFormed()) {
    throw bad(`A Prefix has at most ${MAX_PREFIX_OCTETS} octets of UTF-8`);
  }
  for (const name of Object.keys(tags)) if (name === "") throw bad("A Tag needs a Key");
  for (const size of [largerThan, smallerThan]) {
    if (size === undefined || (Number.isSafeInteger(size) && size >= 0)) continue;
    throw bad("A size must be a whole number of octets");
  }
  if (largerThan !== undefined && smallerThan !== undefined && largerThan >= smallerThan) {
    throw bad("ObjectSizeLessThan must be more than ObjectSizeGreaterThan");
  }
}

function checkTime(when: LifecycleTime, name: string): void {
  if ("days" in when) return checkDays(when.days, `Days of ${name}`);
  // What cannot be told in ms is NaN.
  if (when.date % DAY_MS !== 0) throw bad(`Date of ${name} must be midnight UTC, in ISO 8601`);
}

function checkDays(days: number, name: string): void {
  if (Number.isInteger(days) && days >= 1 && days <= MAX_DAYS) return;
  throw bad(`${name} must be a whole number, at least 1 and at most ${MAX_DAYS}`);
}

function bad(message: string): ObjectFault {
  return new ObjectFault("bad-lifecycle", message);
}
