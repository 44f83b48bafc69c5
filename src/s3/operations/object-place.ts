/** What requests about an object say of where it is: its version and its part. */
import type { S3Call } from "../call.ts";
import { S3Fault } from "../fault.ts";

const MAX_PARTS = 10_000;

/** There are no versions but the one that S3 calls `null`. */
export function checkVersion(call: S3Call): void {
  const versionId = call.query("versionId");
  if (versionId === undefined || versionId === "null") return;
  if (versionId === "") {
    throw new S3Fault("InvalidArgument", "Version id cannot be the empty string", {
      extra: { ArgumentName: "versionId", ArgumentValue: "" },
    });
  }
  throw new S3Fault("NoSuchVersion", undefined, {
    extra: { Key: call.key, VersionId: versionId.slice(0, 200) },
  });
}

/** Who may not list the bucket shall not learn what it has not. */
export function noSuchKey(
  { caller, target }: S3Call,
  { bucket, key }: { readonly bucket: string; readonly key: string } = target,
): S3Fault {
  if (caller !== null && !caller.may("list", bucket, key)) return new S3Fault("AccessDenied");
  return new S3Fault("NoSuchKey", undefined, { extra: { Key: key } });
}

export function partNumberOf(call: S3Call): number | undefined {
  const text = call.query("partNumber");
  return text === undefined ? undefined : readPartNumber(text);
}

export function readPartNumber(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MAX_PARTS) return number;
  const message = `Part number must be an integer between 1 and ${MAX_PARTS}, inclusive`;
  throw new S3Fault("InvalidArgument", message, {
    extra: { ArgumentName: "partNumber", ArgumentValue: text.slice(0, 80) },
  });
}
