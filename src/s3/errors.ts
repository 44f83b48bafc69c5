/** What went wrong in the words of S3: faults of the core and of bodies become codes, codes a document. */
import { DatabaseFault } from "#db";
import { BodyCutShort, BodyTooLarge } from "#http";
import { XmlFault } from "#kit/xml.ts";
import { ObjectFault, type ObjectFaultKind } from "#objects";
import type { S3Code } from "./codes.ts";
import { S3Fault } from "./fault.ts";
import { bareDocument, tag } from "./xml/write.ts";

const codeOf = {
  "no-such-bucket": "NoSuchBucket",
  "bad-bucket-name": "InvalidBucketName",
  "bucket-exists": "BucketAlreadyExists",
  "bucket-not-empty": "BucketNotEmpty",
  "too-many-buckets": "TooManyBuckets",
  "bad-key": "KeyTooLongError",
  "bad-key-count": "MalformedXML",
  "bad-limit": "InvalidArgument",
  "bad-cursor": "InvalidArgument",
  "bad-range": "InvalidRange",
  "bad-storage-class": "InvalidStorageClass",
  "bad-digest": "BadDigest",
  "incomplete-body": "IncompleteBody",
  "metadata-too-large": "MetadataTooLarge",
  "too-large": "EntityTooLarge",
  "no-such-upload": "NoSuchUpload",
  "no-such-part": "InvalidPart",
  "duplicate-part": "InvalidPartOrder",
  "part-too-small": "EntityTooSmall",
  "uneven-parts": "InvalidPart",
  "bad-checksum-type": "InvalidRequest",
  "key-required": "InvalidRequest",
  // Differs from S3, which answers 403 for another key: ceph/s3-tests ask for a bad request.
  "bad-key-for-object": "InvalidRequest",
  "bad-cors": "InvalidRequest",
  "bad-lifecycle": "InvalidArgument",
  "bad-tags": "InvalidTag",
  "bad-domain": "InvalidRequest",
  "domain-taken": "InvalidRequest",
  "no-such-domain": "InvalidRequest",
  "bad-notification": "InvalidRequest",
  "too-many-notifications": "InvalidRequest",
  "no-such-notification": "InvalidRequest",
  unavailable: "ServiceUnavailable",
} as const satisfies Record<ObjectFaultKind, S3Code>;

/** Null for what is no fault of the request: a bug, a broken disk. */
export function toS3Fault(error: unknown): S3Fault | null {
  if (error instanceof S3Fault) return error;
  if (error instanceof ObjectFault) {
    // The core words its faults for people; S3's own words are for programs that look for them.
    const isPayload = error.algorithm === "sha256" && !error.isKept;
    const code = isPayload ? "XAmzContentSHA256Mismatch" : codeOf[error.kind];
    const message = SAYS_MORE.has(error.kind) ? error.message : undefined;
    return new S3Fault(code, message, { cause: error });
  }
  // Where keys are kept; the objects' core words its own.
  if (error instanceof DatabaseFault) {
    return new S3Fault("ServiceUnavailable", undefined, { cause: error });
  }
  if (error instanceof BodyCutShort) return new S3Fault("IncompleteBody");
  if (error instanceof BodyTooLarge) return new S3Fault("MaxMessageLengthExceeded");
  if (error instanceof XmlFault) {
    const message = `The XML you provided cannot be read: ${error.message}.`;
    return new S3Fault("MalformedXML", message);
  }
  return null;
}

/** Faults whose own message tells what S3's does not. */
const SAYS_MORE: ReadonlySet<ObjectFaultKind> = new Set([
  "bad-bucket-name",
  "bad-checksum-type",
  "bad-cors",
  "bad-cursor",
  "bad-key-for-object",
  "bad-lifecycle",
  "bad-limit",
  "bad-storage-class",
  "bad-tags",
  "key-required",
  "metadata-too-large",
  "too-many-buckets",
]);

export interface ErrorPlace {
  /** The path that was asked for. */
  readonly resource: string;
  readonly requestId: string;
  readonly hostId: string;
}

export function errorDocument(fault: S3Fault, { resource, requestId, hostId }: ErrorPlace): string {
  return bareDocument(
    "Error",
    tag("Code", fault.code) +
      tag("Message", fault.message) +
      tag("Resource", resource) +
      Object.entries(fault.extra)
        .map(([name, value]) => tag(name, value))
        .join("") +
      tag("RequestId", requestId) +
      tag("HostId", hostId),
  );
}
