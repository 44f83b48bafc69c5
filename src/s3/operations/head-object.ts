/** Tells of an object what a get would, without its octets. */
import { conditionsHold, ObjectFault, type ObjectInfo, resolveRange } from "#objects";
import type { S3Call } from "../call.ts";
import { withExpiration } from "../expiration.ts";
import { S3Fault } from "../fault.ts";
import { objectHeaders, pushHttpMetadata } from "../object-metadata.ts";
import type { Operation, S3Parts } from "../operation.ts";
import { getOptionsOf, invalidRange, isRangeHeard, pushExtent, unmet } from "./get-object.ts";
import { checkVersion, noSuchKey } from "./object-place.ts";

export const headObject: Operation = {
  name: "HeadObject",
  method: "HEAD",
  on: "object",
  action: "read",
  async handle(call, parts) {
    checkVersion(call);
    const options = getOptionsOf(call, parts.now());
    const { conditions, range, partNumber, encryption } = options;
    const object = await parts.store.head(call.bucket, call.key, { encryption });
    if (object === null) throw noSuchKey(call);
    if (conditions !== undefined && !conditionsHold(conditions, object)) {
      return unmet(call, object, options);
    }
    const extent =
      partNumber === undefined
        ? rangeWithin(call, object, isRangeHeard(call, object) ? range : undefined)
        : await partWithin(call, object, partNumber, parts);
    const headers = objectHeaders(object);
    pushHttpMetadata(headers, object, call);
    const isPart = pushExtent(headers, call, object, extent, options);
    headers.push("Content-Length", String(extent.length));
    const answer = { status: isPart ? 206 : 200, headers };
    return withExpiration(answer, parts.store, call.bucket, object);
  },
};

function rangeWithin(
  call: S3Call,
  { size }: ObjectInfo,
  range: Parameters<typeof resolveRange>[0],
) {
  try {
    return resolveRange(range, size);
  } catch (error) {
    if (error instanceof ObjectFault && error.kind === "bad-range") throw invalidRange(call, size);
    throw error;
  }
}

/** An object that was not put in parts is one. */
async function partWithin(
  call: S3Call,
  object: ObjectInfo,
  partNumber: number,
  { store }: S3Parts,
): Promise<{ offset: number; length: number }> {
  if (object.partCount === null && partNumber === 1) return { offset: 0, length: object.size };
  if (object.partCount !== null && partNumber <= object.partCount) {
    const options = { after: partNumber - 1, limit: 1 };
    const part = (await store.partsOf(call.bucket, call.key, options))?.parts[0];
    if (part !== undefined) return { offset: part.start, length: part.size };
  }
  throw new S3Fault("InvalidPart");
}
