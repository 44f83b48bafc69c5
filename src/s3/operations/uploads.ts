/** Multipart uploads: begun, given up, listed. */
import type { ChecksumChoice, Upload } from "#objects";
import type { S3Call } from "../call.ts";
import { ALGORITHMS, type S3Algorithm, typeWord } from "../checksums.ts";
import { countOf, encodingOf, type ListEncoding } from "../encoding.ts";
import { encryptionHeaders } from "../encryption.ts";
import { withAbortion } from "../expiration.ts";
import { S3Fault } from "../fault.ts";
import { classWord } from "../object-metadata.ts";
import { NO_CONTENT, type Operation, xmlAnswer } from "../operation.ts";
import { writeOptionsOf } from "../write-options.ts";
import { group, isoTime, tag, xmlDocument } from "../xml/write.ts";
import { prefixes } from "./list-objects.ts";
import { ownerElement } from "./owner.ts";

const MAX_PAGE = 1_000;

export const createMultipartUpload: Operation = {
  name: "CreateMultipartUpload",
  method: "POST",
  on: "object",
  resource: "uploads",
  action: "write",
  mayCreateBucket: true,
  async handle(call, { store }) {
    const { bucket, key } = call;
    const checksum = choiceOf(call);
    const upload = await store.createUpload(bucket, key, {
      ...writeOptionsOf(call),
      ...(checksum !== null && { checksum }),
    });
    const answer = xmlAnswer(
      xmlDocument(
        "InitiateMultipartUploadResult",
        tag("Bucket", bucket.name) + tag("Key", key) + tag("UploadId", upload.uploadId),
      ),
      [...choiceHeaders(upload), ...encryptionHeaders(upload.encryption)],
    );
    return withAbortion(answer, store, bucket, upload);
  },
};

/** Algorithms with the kinds of checksum that an object of parts can have of each; the first if none is named. */
const KINDS: Readonly<Record<S3Algorithm, readonly ChecksumChoice["type"][]>> = {
  crc32: ["composite", "full"],
  crc32c: ["composite", "full"],
  crc64nvme: ["full"],
  sha1: ["composite"],
  sha256: ["composite"],
};

function choiceOf(call: S3Call): ChecksumChoice | null {
  const word = call.header("x-amz-checksum-algorithm")?.toUpperCase();
  const typeGiven = call.header("x-amz-checksum-type")?.toUpperCase();
  if (word === undefined || word === "") {
    if (typeGiven === undefined) return null;
    const message = "The x-amz-checksum-type header can only be used with a checksum algorithm.";
    throw new S3Fault("InvalidRequest", message);
  }
  const algorithm = word.toLowerCase();
  if (!Object.hasOwn(ALGORITHMS, algorithm)) {
    const message = `Checksum algorithm provided is unsupported: ${word.slice(0, 80)}.`;
    throw new S3Fault("InvalidRequest", message);
  }
  const kinds = KINDS[algorithm as S3Algorithm];
  const type =
    typeGiven === undefined ? kinds[0] : kinds.find((one) => typeWord(one) === typeGiven);
  if (type !== undefined) return { algorithm: algorithm as S3Algorithm, type };
  const message = `The ${typeGiven!.slice(0, 80)} checksum type cannot be used with ${word}.`;
  throw new S3Fault("InvalidRequest", message);
}

function choiceHeaders({ checksum }: Upload): string[] {
  if (checksum === null) return [];
  const word = ALGORITHMS[checksum.algorithm as S3Algorithm];
  return ["x-amz-checksum-algorithm", word, "x-amz-checksum-type", typeWord(checksum.type)];
}

export function choiceElements({ checksum }: Upload): string {
  if (checksum === null) return "";
  const word = ALGORITHMS[checksum.algorithm as S3Algorithm];
  return tag("ChecksumAlgorithm", word) + tag("ChecksumType", typeWord(checksum.type));
}

export const abortMultipartUpload: Operation = {
  name: "AbortMultipartUpload",
  method: "DELETE",
  on: "object",
  resource: "uploadId",
  action: "write",
  async handle(call, { store }) {
    await store.abortUpload(call.bucket, call.key, call.query("uploadId")!);
    return NO_CONTENT;
  },
};

export const listMultipartUploads: Operation = {
  name: "ListMultipartUploads",
  method: "GET",
  on: "bucket",
  resource: "uploads",
  action: "list",
  takes: ["prefix", "delimiter", "encoding-type", "key-marker", "upload-id-marker", "max-uploads"],
  async handle(call, { store }) {
    const { bucket } = call;
    const encoding = encodingOf(call);
    const limit = countOf(call, "max-uploads", MAX_PAGE);
    const asked = {
      prefix: call.query("prefix") ?? "",
      delimiter: call.query("delimiter") ?? "",
      keyMarker: call.query("key-marker") ?? "",
      uploadIdMarker: call.query("upload-id-marker") ?? "",
    };
    const page =
      limit === 0
        ? { uploads: [], prefixes: [], next: null }
        : await store.listUploads(bucket, { ...given(asked), limit });
    const { show } = encoding;
    const next =
      page.next === null
        ? ""
        : tag("NextKeyMarker", show(page.next.key)) + tag("NextUploadIdMarker", page.next.uploadId);
    return xmlAnswer(
      xmlDocument(
        "ListMultipartUploadsResult",
        tag("Bucket", bucket.name) +
          tag("KeyMarker", show(asked.keyMarker)) +
          tag("UploadIdMarker", asked.uploadIdMarker) +
          next +
          tag("MaxUploads", limit) +
          tag("Prefix", show(asked.prefix)) +
          (asked.delimiter === "" ? "" : tag("Delimiter", show(asked.delimiter))) +
          tag("EncodingType", encoding.word) +
          tag("IsTruncated", page.next !== null) +
          page.uploads.map((upload) => uploadElement(upload, encoding, bucket.accountId)).join("") +
          prefixes(page, encoding),
      ),
    );
  },
};

/** Only those of the texts that say something. */
function given<T extends Record<string, string>>(texts: T): Partial<T> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== "")) as Partial<T>;
}

function uploadElement(upload: Upload, { show }: ListEncoding, accountId: string): string {
  return group(
    "Upload",
    tag("Key", show(upload.key)) +
      tag("UploadId", upload.uploadId) +
      ownerElement(accountId, "Initiator") +
      ownerElement(accountId) +
      tag("StorageClass", classWord(upload.storageClass)) +
      tag("Initiated", isoTime(upload.createdAt)) +
      choiceElements(upload),
  );
}
