/** Deletes an object; one that is not there is no fault. */
import { conditionsOf, writeRefusal } from "../conditions.ts";
import { S3Fault } from "../fault.ts";
import { NO_CONTENT, type Operation } from "../operation.ts";
import { checkVersion } from "./object-place.ts";
import type { S3Call } from "../call.ts";

export const deleteObject: Operation = {
  name: "DeleteObject",
  method: "DELETE",
  on: "object",
  action: "write",
  takes: ["versionId"],
  async handle(call, { store, now }) {
    checkVersion(call);
    const { bucket, key } = call;
    const conditions = conditionsOf(call, now());
    const further = furtherOf(call);
    if (conditions === undefined && further === null) {
      await store.delete(bucket, [key]);
      return NO_CONTENT;
    }
    const outcome = await store.deleteIf(bucket, key, { ...conditions, ...further });
    if (outcome === "condition-failed")
      throw writeRefusal(key, conditions, await store.head(bucket, key));
    return NO_CONTENT;
  },
};

/** What only deletes can ask for: the size and the time that the object must have. */
function furtherOf(call: S3Call) {
  const size = call.header("x-amz-if-match-size");
  const time = call.header("x-amz-if-match-last-modified-time");
  if (size === undefined && time === undefined) return null;
  return {
    ...(size !== undefined && { size: readSize(size) }),
    ...(time !== undefined && { uploadedAt: readTime(time), secondsGranularity: true }),
  };
}

export function readSize(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new S3Fault("InvalidArgument", `"${text.slice(0, 80)}" is no size.`);
}

/** Of either form: those of HTTP and of XML. */
export function readTime(text: string): number {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new S3Fault("InvalidArgument", `"${text.slice(0, 80)}" is no time.`);
}
