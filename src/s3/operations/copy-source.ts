/** The object that a copy reads: named in a header, under conditions of its own. */
import { type ByteRange, type FoundObject, leave, type RangeRequest } from "#objects";
import type { S3Call } from "../call.ts";
import { conditionsOf } from "../conditions.ts";
import { customerKeyOf } from "../encryption.ts";
import { S3Fault } from "../fault.ts";
import type { S3Parts } from "../operation.ts";
import { decoded } from "../target.ts";
import { noSuchKey } from "./object-place.ts";

/** One request copies no more than one can put. */
const MAX_COPIED = 5 * 1024 ** 3;

export interface CopySource {
  readonly bucket: string;
  readonly key: string;
}

export type Opened = FoundObject;

/** `/bucket/key?versionId=…`, percent-encoded; the slash in front is optional. */
export function copySourceOf(call: S3Call): CopySource {
  const header = call.header("x-amz-copy-source") ?? "";
  const [path = "", query = ""] = header.split(/\?(?=versionId=)/);
  const version = query.slice("versionId=".length);
  if (version !== "" && version !== "null") throw new S3Fault("NoSuchVersion");
  const whole = decoded(path).replace(/^\//, "");
  const slash = whole.indexOf("/");
  if (slash < 1 || slash === whole.length - 1) {
    const message = "Copy Source must mention the source bucket and key: sourcebucket/sourcekey";
    throw new S3Fault("InvalidArgument", message, {
      extra: { ArgumentName: "x-amz-copy-source", ArgumentValue: header.slice(0, 1_100) },
    });
  }
  return { bucket: whole.slice(0, slash), key: whole.slice(slash + 1) };
}

/** Opens it, as far as the caller may. Every condition that fails is a 412 here. */
export async function openSource(
  call: S3Call,
  source: CopySource,
  operation: string,
  { store, now }: S3Parts,
  range?: RangeRequest,
): Promise<Opened> {
  const caller = call.caller!;
  const { bucket: name, key } = source;
  if (!caller.may("read", name, key, operation)) throw new S3Fault("AccessDenied");
  const bucket = name === call.bucket.name ? call.bucket : await store.bucket(name);
  const owner = call.header("x-amz-source-expected-bucket-owner") ?? caller.accountId;
  if (bucket.accountId !== caller.accountId || bucket.accountId !== owner) {
    throw new S3Fault("AccessDenied");
  }
  const conditions = conditionsOf(call, now(), "x-amz-copy-source-if");
  const encryption = customerKeyOf(call, "source");
  const found = await store.get(bucket, key, {
    ...(range !== undefined && { range }),
    ...(conditions !== undefined && { conditions }),
    ...(encryption !== undefined && { encryption }),
  });
  if (found.kind === "missing") throw noSuchKey(call, source);
  if (found.kind === "condition-failed") throw new S3Fault("PreconditionFailed");
  if (found.range.length <= MAX_COPIED) return found;
  await leave(found.body);
  const message = `The specified copy source is larger than ${MAX_COPIED} bytes: copy it in parts.`;
  throw new S3Fault("InvalidRequest", message);
}

/** `bytes=a-b`, whole and within the source. */
export function copyRangeOf(call: S3Call): ByteRange | undefined {
  const header = call.header("x-amz-copy-source-range");
  if (header === undefined) return undefined;
  const match = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header.trim());
  const [offset, last] = [Number(match?.[1]), Number(match?.[2])];
  if (match !== null && last >= offset) return { offset, length: last - offset + 1 };
  const message = "The x-amz-copy-source-range value must be of the form bytes=first-last.";
  throw new S3Fault("InvalidArgument", message, {
    extra: { ArgumentName: "x-amz-copy-source-range", ArgumentValue: header.slice(0, 80) },
  });
}

/** A range is not cut short here as it is for a get. */
export async function checkWithin(found: Opened, range: ByteRange): Promise<void> {
  if (found.range.length === range.length) return;
  await leave(found.body);
  throw outside(found.object.size);
}

function outside(size: number): S3Fault {
  const message = "The specified range is not within the source.";
  return new S3Fault("InvalidRange", message, { extra: { ActualObjectSize: String(size) } });
}
