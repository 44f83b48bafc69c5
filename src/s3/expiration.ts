/** Tells in an answer when lifecycle rules will have their way with what it is about. */
import {
  abortionOf,
  type Bucket,
  type Due,
  expirationOf,
  type LifecycleRule,
  type ObjectInfo,
  type ObjectStore,
  type Upload,
} from "#objects";
import type { S3Answer } from "./operation.ts";

/** At once for a bucket without rules, as most are. */
export function withExpiration(
  answer: S3Answer,
  store: ObjectStore,
  bucket: Bucket,
  object: ObjectInfo,
): S3Answer | Promise<S3Answer> {
  return withRules(answer, store, bucket, (rules) => {
    const due = expirationOf(rules, object);
    return due === null ? [] : ["x-amz-expiration", shown(due)];
  });
}

/** The same of an upload that is open. */
export function withAbortion(
  answer: S3Answer,
  store: ObjectStore,
  bucket: Bucket,
  upload: Upload,
): S3Answer | Promise<S3Answer> {
  return withRules(answer, store, bucket, (rules) => {
    const due = abortionOf(rules, upload);
    if (due === null) return [];
    const date = new Date(due.at).toUTCString();
    return ["x-amz-abort-date", date, "x-amz-abort-rule-id", encodeURIComponent(due.ruleId)];
  });
}

function withRules(
  answer: S3Answer,
  store: ObjectStore,
  bucket: Bucket,
  headersOf: (rules: readonly LifecycleRule[]) => readonly string[],
): S3Answer | Promise<S3Answer> {
  const rules = store.setting(bucket, "lifecycle");
  if (rules === null) return answer;
  const told = (rules: readonly LifecycleRule[]): S3Answer => ({
    ...answer,
    headers: [...(answer.headers ?? []), ...headersOf(rules)],
  });
  return rules instanceof Promise ? rules.then((read) => told(read ?? [])) : told(rules);
}

function shown({ at, ruleId }: Due): string {
  return `expiry-date="${new Date(at).toUTCString()}", rule-id="${encodeURIComponent(ruleId)}"`;
}
