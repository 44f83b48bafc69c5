/** Writes lifecycle rules as they were given. */
import type { LifecycleFilter, LifecycleForVersions, LifecycleRule, LifecycleTime } from "#objects";
import { group, isoTime, tag, xmlDocument } from "../xml/write.ts";
import { LIFECYCLE_ROOT, MOVED_CLASS } from "./lifecycle-xml.ts";
import { writeTags } from "./tagging-xml.ts";

export function writeLifecycle(rules: readonly LifecycleRule[]): string {
  return xmlDocument(LIFECYCLE_ROOT, rules.map(writeRule).join(""));
}

function writeRule(rule: LifecycleRule): string {
  const { id, enabled, filter, expiration, transitions, abortUploadsAfterDays } = rule;
  const { forVersions = {} } = rule;
  return group(
    "Rule",
    tag("ID", id) +
      writeFilter(filter) +
      tag("Status", enabled ? "Enabled" : "Disabled") +
      transitions
        .map(({ when }) => group("Transition", writeTime(when) + tag("StorageClass", MOVED_CLASS)))
        .join("") +
      (expiration === undefined ? "" : group("Expiration", writeTime(expiration))) +
      writeForVersions(forVersions) +
      (abortUploadsAfterDays === undefined
        ? ""
        : group(
            "AbortIncompleteMultipartUpload",
            tag("DaysAfterInitiation", abortUploadsAfterDays),
          )),
  );
}

function writeFilter({
  form,
  prefix,
  tags = {},
  largerThan,
  smallerThan,
}: LifecycleFilter): string {
  if (form === "rule") return tag("Prefix", prefix ?? "");
  const conditions =
    tag("Prefix", prefix) +
    writeTags(tags) +
    tag("ObjectSizeGreaterThan", largerThan) +
    tag("ObjectSizeLessThan", smallerThan);
  return group("Filter", form === "and" ? group("And", conditions) : conditions);
}

function writeTime(when: LifecycleTime): string {
  return "days" in when ? tag("Days", when.days) : tag("Date", isoTime(when.date));
}

function writeForVersions(given: LifecycleForVersions): string {
  const { expiredDeleteMarker, expiration, transitions = [] } = given;
  const writeAge = ({ days, kept }: { readonly days: number; readonly kept?: number }) =>
    tag("NoncurrentDays", days) + tag("NewerNoncurrentVersions", kept);
  return (
    (expiredDeleteMarker === undefined
      ? ""
      : group("Expiration", tag("ExpiredObjectDeleteMarker", expiredDeleteMarker))) +
    (expiration === undefined ? "" : group("NoncurrentVersionExpiration", writeAge(expiration))) +
    transitions
      .map((transition) =>
        group(
          "NoncurrentVersionTransition",
          writeAge(transition) + tag("StorageClass", MOVED_CLASS),
        ),
      )
      .join("")
  );
}
