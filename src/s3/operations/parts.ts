/** The parts of an upload: put, and listed. */
import type { PartInfo } from "#objects";
import type { S3Call } from "../call.ts";
import { checksumElements, checksumHeaders } from "../checksums.ts";
import { countOf } from "../encoding.ts";
import { customerKeyOf, encryptionHeaders } from "../encryption.ts";
import { withAbortion } from "../expiration.ts";
import { classWord } from "../object-metadata.ts";
import { type Operation, xmlAnswer } from "../operation.ts";
import { refuseUnheard } from "../write-options.ts";
import { group, isoTime, tag, xmlDocument } from "../xml/write.ts";
import { readPartNumber } from "./object-place.ts";
import { ownerElement } from "./owner.ts";
import { sizedPayload } from "./put-object.ts";
import { choiceElements } from "./uploads.ts";

const MAX_PAGE = 1_000;
/** Markers go up to here in S3; what lies behind the last part is an empty page. */
const MAX_MARKER = 2 ** 31 - 1;

export const uploadPart: Operation = {
  name: "UploadPart",
  method: "PUT",
  on: "object",
  resource: "uploadId",
  action: "write",
  takes: ["partNumber"],
  async handle(call, { store }) {
    refuseUnheard(call);
    const { uploadId, partNumber } = partPlaceOf(call);
    const encryption = customerKeyOf(call);
    const { body, size, checksums } = sizedPayload(call);
    const part = await store.uploadPart(call.bucket, call.key, uploadId, partNumber, body, {
      size,
      checksums,
      ...(encryption !== undefined && { encryption }),
    });
    return {
      headers: ["ETag", `"${part.etag}"`, ...checksumHeaders(part), ...keyHeaders(call)],
    };
  },
};

export function partPlaceOf(call: S3Call): { uploadId: string; partNumber: number } {
  return {
    uploadId: call.query("uploadId")!,
    partNumber: readPartNumber(call.query("partNumber") ?? ""),
  };
}

/** The key that came with the request is the upload's, or the core would have refused it. */
export function keyHeaders(call: S3Call): string[] {
  const keyMd5 = call.header("x-amz-server-side-encryption-customer-key-md5");
  return encryptionHeaders(keyMd5 === undefined ? null : { keyMd5 });
}

export const listParts: Operation = {
  name: "ListParts",
  method: "GET",
  on: "object",
  resource: "uploadId",
  action: "read",
  takes: ["max-parts", "part-number-marker", "encoding-type"],
  async handle(call, { store }) {
    const { bucket, key } = call;
    const limit = countOf(call, "max-parts", MAX_PAGE);
    const after = call.query("part-number-marker")
      ? countOf(call, "part-number-marker", MAX_MARKER)
      : 0;
    const page = await store.listParts(bucket, key, call.query("uploadId")!, {
      after,
      limit: Math.max(limit, 1),
    });
    const parts = limit === 0 ? [] : page.parts;
    const isTruncated = limit > 0 && page.next !== null;
    const answer = xmlAnswer(
      xmlDocument(
        "ListPartsResult",
        tag("Bucket", bucket.name) +
          tag("Key", key) +
          tag("UploadId", page.upload.uploadId) +
          ownerElement(bucket.accountId, "Initiator") +
          ownerElement(bucket.accountId) +
          tag("StorageClass", classWord(page.upload.storageClass)) +
          tag("PartNumberMarker", after) +
          tag("NextPartNumberMarker", parts.at(-1)?.partNumber ?? 0) +
          tag("MaxParts", limit) +
          tag("IsTruncated", isTruncated) +
          choiceElements(page.upload) +
          parts.map(partElement).join(""),
      ),
    );
    return withAbortion(answer, store, bucket, page.upload);
  },
};

function partElement(part: PartInfo): string {
  return group(
    "Part",
    tag("PartNumber", part.partNumber) +
      tag("LastModified", isoTime(part.uploadedAt)) +
      tag("ETag", `"${part.etag}"`) +
      tag("Size", part.size) +
      checksumElements({ checksums: part.checksums }),
  );
}
