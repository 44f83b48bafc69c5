/** The conditional headers of requests, and what their failure means. RFC 9110 §13. */
import { type Conditions, conditionsHold, type EtagPattern, type ObjectInfo } from "#objects";
import type { S3Call } from "./call.ts";
import { S3Fault } from "./fault.ts";

/** What stands before `-match`, `-none-match` and so on. */
export type ConditionPrefix = "if" | "x-amz-copy-source-if" | "cf-copy-destination-if";

/** Their names by prefix, made once: each request asks for them. */
const NAMES: Readonly<Record<ConditionPrefix, ReturnType<typeof namesUnder>>> = {
  if: namesUnder("if"),
  "x-amz-copy-source-if": namesUnder("x-amz-copy-source-if"),
  "cf-copy-destination-if": namesUnder("cf-copy-destination-if"),
};

const SECOND_MS = 1_000;

/** Undefined without any. Dates that cannot be read go unheard, as does one that is still to come. */
export function conditionsOf(
  call: S3Call,
  now: number,
  prefix: ConditionPrefix = "if",
): Conditions | undefined {
  const names = NAMES[prefix];
  const match = call.header(names.match);
  const noneMatch = call.header(names.noneMatch);
  const modified = dateOf(call.header(names.modified));
  const unmodified = dateOf(call.header(names.unmodified));
  const after = modified !== undefined && modified <= now ? modified : undefined;
  const hasTags = match !== undefined || noneMatch !== undefined;
  if (!hasTags && after === undefined && unmodified === undefined) return undefined;
  return {
    ...(match !== undefined && { etagMatches: etagsOf(match) }),
    ...(noneMatch !== undefined && { etagDoesNotMatch: etagsOf(noneMatch) }),
    ...(after !== undefined && { uploadedAfter: after }),
    // The store's limit is exclusive, the header's is not.
    ...(unmodified !== undefined && { uploadedBefore: unmodified + SECOND_MS }),
    secondsGranularity: true,
  };
}

function namesUnder(prefix: ConditionPrefix) {
  return {
    match: `${prefix}-match`,
    noneMatch: `${prefix}-none-match`,
    modified: `${prefix}-modified-since`,
    unmodified: `${prefix}-unmodified-since`,
  };
}

/** Whether the failure is one of If-Match or If-Unmodified-Since, which count first. */
export function failsPrecondition(conditions: Conditions, object: ObjectInfo): boolean {
  const { etagMatches, uploadedBefore } = conditions;
  const first: Conditions = {
    ...(etagMatches && { etagMatches }),
    ...(uploadedBefore !== undefined && { uploadedBefore }),
    secondsGranularity: true,
  };
  return !conditionsHold(first, object);
}

/** Quotes are optional, as clients have them. */
export function etagsOf(header: string): EtagPattern[] {
  const tags: EtagPattern[] = [];
  for (const [, weak, quoted, bare] of header.matchAll(/(W\/)?(?:"([^"]*)"|([^\s",]+))/g)) {
    if (bare === "*" && weak === undefined) return [{ type: "wildcard" }];
    tags.push({ type: weak === undefined ? "strong" : "weak", value: quoted ?? bare! });
  }
  return tags;
}

function dateOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : date;
}

/** What a write says whose condition failed: one that names an object which is not there misses it. */
export function writeRefusal(
  key: string,
  conditions: Conditions | undefined,
  object: ObjectInfo | null,
): S3Fault {
  const isMissed = object === null && conditions?.etagMatches !== undefined;
  if (isMissed) return new S3Fault("NoSuchKey", undefined, { extra: { Key: key } });
  return new S3Fault("PreconditionFailed", undefined, {
    extra: conditions === undefined ? {} : { Condition: nameOf(conditions) },
  });
}

/** The header that is the likeliest to have failed. */
function nameOf(conditions: Conditions): string {
  if (conditions.etagMatches !== undefined) return "If-Match";
  if (conditions.etagDoesNotMatch !== undefined) return "If-None-Match";
  return conditions.uploadedBefore === undefined ? "If-Modified-Since" : "If-Unmodified-Since";
}
