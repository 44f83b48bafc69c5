/** Sends an object, or a range or a part of it, as conditions allow. */
import { LENT_BODY } from "#kit/lent-body.ts";
import { parseRangeHeader } from "#kit/range-header.ts";
import {
  type FoundObject,
  type GetOptions,
  type GetResult,
  leave,
  ObjectFault,
  type ObjectInfo,
  type RangeRequest,
} from "#objects";
import type { S3Call } from "../call.ts";
import { conditionsOf, etagsOf, failsPrecondition } from "../conditions.ts";
import { customerKeyOf } from "../encryption.ts";
import { withExpiration } from "../expiration.ts";
import { S3Fault } from "../fault.ts";
import {
  checkOverrides,
  objectHeaders,
  pushChecksums,
  pushHttpMetadata,
} from "../object-metadata.ts";
import type { Operation, S3Answer, S3Parts } from "../operation.ts";
import { checkVersion, noSuchKey, partNumberOf } from "./object-place.ts";

export const getObject: Operation = {
  name: "GetObject",
  method: "GET",
  on: "object",
  action: "read",
  async handle(call, parts) {
    checkVersion(call);
    const options = getOptionsOf(call, parts.now());
    const { range } = options;
    const found = await (range === undefined
      ? parts.store.get(call.bucket, call.key, options)
      : getRange(call, options, parts));
    if (found.kind === "missing") throw noSuchKey(call);
    if (found.kind === "condition-failed") return unmet(call, found.object, options);
    try {
      const answer = answerOf(call, found, options);
      const expiring = withExpiration(answer, parts.store, call.bucket, found.object);
      const complete = expiring instanceof Promise ? await expiring : expiring;
      const lent = parts.lend?.(call.bucket, found) ?? null;
      return lent === null ? complete : named(complete, lent);
    } catch (error) {
      await leave(found.body);
      throw error;
    }
  },
};

export function getOptionsOf(call: S3Call, now: number): GetOptions {
  checkOverrides(call);
  const conditions = conditionsOf(call, now);
  const given = call.request.headers.range;
  const range = given === undefined ? undefined : parseRangeHeader(given);
  const partNumber = partNumberOf(call);
  const encryption = customerKeyOf(call);
  if (partNumber !== undefined && given !== undefined) {
    throw new S3Fault("InvalidRequest", "Cannot specify both Range header and partNumber.");
  }
  const options: { -readonly [Name in keyof GetOptions]: GetOptions[Name] } = {};
  if (conditions !== undefined) options.conditions = conditions;
  if (range !== undefined) options.range = range;
  if (partNumber !== undefined) options.partNumber = partNumber;
  if (encryption !== undefined) options.encryption = encryption;
  return options;
}

/** Of what the client has in another version it gets the whole. */
async function getRange(call: S3Call, options: GetOptions, parts: S3Parts): Promise<GetResult> {
  const { store } = parts;
  const { range: _, ...whole } = options;
  try {
    const found = await store.get(call.bucket, call.key, options);
    if (found.kind !== "found" || isRangeHeard(call, found.object)) return found;
    await leave(found.body);
    return await store.get(call.bucket, call.key, whole);
  } catch (error) {
    if (!(error instanceof ObjectFault) || error.kind !== "bad-range") throw error;
    const object = await store.head(call.bucket, call.key);
    if (object === null) return { kind: "missing" };
    if (isRangeHeard(call, object)) throw invalidRange(call, object.size);
    return store.get(call.bucket, call.key, whole);
  }
}

/** RFC 9110 §13.1.5: If-Range has a tag, or the very date that was told. */
export function isRangeHeard({ request }: S3Call, { etag, uploadedAt }: ObjectInfo): boolean {
  const ifRange = request.headers["if-range"] as string | undefined;
  if (ifRange === undefined) return true;
  const date = Date.parse(ifRange);
  if (!Number.isNaN(date) && !ifRange.includes('"')) {
    return Math.floor(uploadedAt / 1000) * 1000 === date;
  }
  return etagsOf(ifRange).some((one) => one.type === "strong" && one.value === etag);
}

export function invalidRange(call: S3Call, size: number): S3Fault {
  return new S3Fault("InvalidRange", undefined, {
    extra: {
      RangeRequested: call.request.headers.range ?? "",
      ActualObjectSize: String(size),
    },
    headers: ["Content-Range", `bytes */${size}`],
  });
}

/** What a client has already it is not sent again; what it takes for granted and is not so fails. */
export function unmet(call: S3Call, object: ObjectInfo, { conditions = {} }: GetOptions): S3Answer {
  if (failsPrecondition(conditions, object)) throw new S3Fault("PreconditionFailed");
  const headers = objectHeaders(object);
  pushHttpMetadata(headers, object, call);
  return { status: 304, headers };
}

function answerOf(
  call: S3Call,
  { object, range, body }: FoundObject,
  options: GetOptions,
): S3Answer {
  const headers = objectHeaders(object);
  pushHttpMetadata(headers, object, call);
  const isPart = pushExtent(headers, call, object, range, options);
  const octets =
    body instanceof Uint8Array ? body : { length: range.length, first: NOTHING, rest: body };
  return { status: isPart ? 206 : 200, headers, body: octets };
}

function named({ status, headers = [] }: S3Answer, lent: string): S3Answer {
  return { ...(status !== undefined && { status }), headers: [...headers, LENT_BODY, lent] };
}

const NOTHING = new Uint8Array(0);

/** Tells which octets come; whether they were asked for as a part of the object, if only by chance the whole. */
export function pushExtent(
  headers: string[],
  call: S3Call,
  object: ObjectInfo,
  range: { readonly offset: number; readonly length: number },
  options: { readonly range?: RangeRequest; readonly partNumber?: number },
): boolean {
  const { offset, length } = range;
  const { partNumber } = options;
  const isPart =
    partNumber !== undefined || (options.range !== undefined && isRangeHeard(call, object));
  if (partNumber !== undefined && object.partCount !== null) {
    headers.push("x-amz-mp-parts-count", String(object.partCount));
  }
  if (!isPart) pushChecksums(headers, object, call);
  else if (length > 0) {
    headers.push("Content-Range", `bytes ${offset}-${offset + length - 1}/${object.size}`);
  }
  return isPart;
}
