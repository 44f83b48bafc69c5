/** Tells those attributes of an object that a client names, and of its parts. */
import type { ObjectInfo } from "#objects";
import type { S3Call } from "../call.ts";
import { checksumElements } from "../checksums.ts";
import { customerKeyOf } from "../encryption.ts";
import { S3Fault } from "../fault.ts";
import { classWord } from "../object-metadata.ts";
import { type Operation, type S3Parts, xmlAnswer } from "../operation.ts";
import { group, tag, xmlDocument } from "../xml/write.ts";
import { checkVersion, noSuchKey } from "./object-place.ts";

const MAX_PARTS = 1_000;

const ATTRIBUTES: ReadonlySet<string> = new Set([
  "ETag",
  "Checksum",
  "ObjectParts",
  "StorageClass",
  "ObjectSize",
]);

export const getObjectAttributes: Operation = {
  name: "GetObjectAttributes",
  method: "GET",
  on: "object",
  resource: "attributes",
  action: "read",
  takes: ["versionId"],
  async handle(call, parts) {
    checkVersion(call);
    const wanted = wantedOf(call);
    const encryption = customerKeyOf(call);
    const object = await parts.store.head(call.bucket, call.key, { encryption });
    if (object === null) throw noSuchKey(call);
    const elements =
      (wanted.has("ETag") ? tag("ETag", object.etag) : "") +
      (wanted.has("Checksum") ? checksumElement(object) : "") +
      (wanted.has("ObjectParts") ? await partElements(call, object, parts) : "") +
      (wanted.has("StorageClass") ? tag("StorageClass", classWord(object.storageClass)) : "") +
      (wanted.has("ObjectSize") ? tag("ObjectSize", object.size) : "");
    return xmlAnswer(xmlDocument("GetObjectAttributesResponse", elements), [
      "Last-Modified",
      new Date(object.uploadedAt).toUTCString(),
    ]);
  },
};

function wantedOf(call: S3Call): Set<string> {
  const header = call.header("x-amz-object-attributes") ?? "";
  const names = header.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !ATTRIBUTES.has(name));
  if (unknown === undefined) return new Set(names);
  throw new S3Fault("InvalidArgument", "Invalid attribute name specified.", {
    extra: { ArgumentName: "x-amz-object-attributes", ArgumentValue: unknown.slice(0, 80) },
  });
}

function checksumElement(object: ObjectInfo): string {
  // The number of parts is told beside it.
  const elements = checksumElements(object).replace(/-\d+</, "<");
  return elements === "" ? "" : group("Checksum", elements);
}

async function partElements(
  call: S3Call,
  { partCount }: ObjectInfo,
  { store }: S3Parts,
): Promise<string> {
  if (partCount === null) return "";
  const limit = numberOf(call, "x-amz-max-parts", MAX_PARTS);
  const after = numberOf(call, "x-amz-part-number-marker", 0);
  const page = await store.partsOf(call.bucket, call.key, {
    after,
    limit: Math.min(Math.max(limit, 1), MAX_PARTS),
  });
  const parts = page?.parts ?? [];
  const elements = parts.map((part) =>
    group(
      "Part",
      tag("PartNumber", part.partNumber) +
        tag("Size", part.size) +
        checksumElements({ checksums: part.checksums }),
    ),
  );
  return group(
    "ObjectParts",
    tag("PartsCount", partCount) +
      tag("PartNumberMarker", after) +
      tag("NextPartNumberMarker", parts.at(-1)?.partNumber ?? 0) +
      tag("MaxParts", limit) +
      tag("IsTruncated", (page?.next ?? null) !== null) +
      elements.join(""),
  );
}

function numberOf(call: S3Call, header: string, fallback: number): number {
  const text = call.header(header);
  if (text === undefined) return fallback;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new S3Fault("InvalidArgument", `${header} must be a whole number.`, {
    extra: { ArgumentName: header, ArgumentValue: text.slice(0, 80) },
  });
}
