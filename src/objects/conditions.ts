/** Whether the conditions of a get or put hold. RFC 9110 §13, with the original's differences. */
import type { Conditions, DeleteConditions, EtagPattern, ObjectInfo } from "./model.ts";

type Seen = Pick<ObjectInfo, "etag" | "uploadedAt">;

/** Whether a write may happen; null stands for an object that is not there. */
export function allowWrite(conditions: Conditions, object: Seen | null): boolean {
  if (object !== null) return conditionsHold(conditions, object);
  // A date that an upload must lie behind is not met by none at all, whatever the tags say.
  return conditions.etagMatches === undefined && conditions.uploadedAfter === undefined;
}

export function allowDelete(
  conditions: DeleteConditions,
  object: Seen & Pick<ObjectInfo, "size">,
): boolean {
  const { size = object.size, uploadedAt = object.uploadedAt } = conditions;
  const unit = conditions.secondsGranularity === true ? 1000 : 1;
  const isThatTime = Math.floor(uploadedAt / unit) === Math.floor(object.uploadedAt / unit);
  return size === object.size && isThatTime && conditionsHold(conditions, object);
}

/**
 * Differs from RFC 9110: dates must lie strictly before or behind the upload, and with a tag that decides
 * a date does not count, but a tag that fails does not make the date unheard.
 */
export function conditionsHold(conditions: Conditions, { etag, uploadedAt }: Seen): boolean {
  const { etagMatches, etagDoesNotMatch, uploadedBefore, uploadedAfter } = conditions;
  const inUnits = (ms: number) =>
    conditions.secondsGranularity === true ? Math.floor(ms / 1000) : ms;
  const uploaded = inUnits(uploadedAt);
  const ifMatch = etagMatches === undefined || etagMatches.some((one) => matches(one, etag, false));
  const ifNoneMatch =
    etagDoesNotMatch === undefined || !etagDoesNotMatch.some((one) => matches(one, etag, true));
  const ifModifiedSince =
    uploadedAfter === undefined ||
    inUnits(uploadedAfter) < uploaded ||
    (etagDoesNotMatch !== undefined && ifNoneMatch);
  const ifUnmodifiedSince =
    uploadedBefore === undefined ||
    uploaded < inUnits(uploadedBefore) ||
    (etagMatches !== undefined && ifMatch);
  return ifMatch && ifNoneMatch && ifModifiedSince && ifUnmodifiedSince;
}

function matches(pattern: EtagPattern, etag: string, weakCounts: boolean): boolean {
  if (pattern.type === "wildcard") return true;
  return pattern.value === etag && (weakCounts || pattern.type === "strong");
}
