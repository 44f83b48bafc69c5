/** What the core will not do, as scripts know it: status, code and sentence. */
import type { ObjectFaultKind } from "#objects";

interface StoreError {
  readonly status: number;
  readonly code: number;
  /** The original's own words; null takes the fault's. */
  readonly message: string | null;
}

export const storeErrors = {
  "no-such-bucket": { status: 404, code: 10_006, message: "The specified bucket does not exist." },
  "bad-bucket-name": { status: 400, code: 10_005, message: null },
  "bucket-exists": { status: 409, code: 10_073, message: null },
  "bucket-not-empty": { status: 409, code: 10_008, message: null },
  "too-many-buckets": { status: 400, code: 10_009, message: null },
  "bad-key": { status: 400, code: 10_020, message: "The specified object name is not valid." },
  "bad-key-count": {
    status: 400,
    code: 10_027,
    message: "The number of keys in the request must be between 1 and 1000 inclusive.",
  },
  "bad-limit": {
    status: 400,
    code: 10_022,
    message: "MaxKeys params must be positive integer <= 1000.",
  },
  "bad-cursor": { status: 400, code: 10_029, message: null },
  "bad-range": { status: 416, code: 10_039, message: "The requested range is not satisfiable" },
  "bad-storage-class": { status: 400, code: 10_029, message: null },
  "bad-digest": { status: 400, code: 10_037, message: null },
  "incomplete-body": { status: 400, code: 10_013, message: null },
  "metadata-too-large": {
    status: 400,
    code: 10_012,
    message: "Your metadata headers exceed the maximum allowed metadata size.",
  },
  "too-large": {
    status: 400,
    code: 100_100,
    message: "Your proposed upload exceeds the maximum allowed object size.",
  },
  "no-such-upload": {
    status: 404,
    code: 10_024,
    message: "The specified multipart upload does not exist.",
  },
  "no-such-part": {
    status: 400,
    code: 10_025,
    message: "One or more of the specified parts could not be found.",
  },
  "duplicate-part": {
    status: 400,
    code: 10_048,
    message: "There was a problem with the multipart upload.",
  },
  "part-too-small": {
    status: 400,
    code: 10_011,
    message: "Your proposed upload is smaller than the minimum allowed object size.",
  },
  "uneven-parts": {
    status: 400,
    code: 10_048,
    message: "All non-trailing parts must have the same length.",
  },
  "bad-cors": { status: 400, code: 10_029, message: null },
  "bad-lifecycle": { status: 400, code: 10_029, message: null },
  "bad-tags": { status: 400, code: 10_029, message: null },
  "bad-domain": { status: 400, code: 10_029, message: null },
  "domain-taken": { status: 400, code: 10_029, message: null },
  "no-such-domain": { status: 404, code: 10_029, message: null },
  "bad-notification": { status: 400, code: 10_029, message: null },
  "too-many-notifications": { status: 400, code: 10_029, message: null },
  "no-such-notification": { status: 404, code: 10_029, message: null },
  "bad-checksum-type": { status: 400, code: 10_029, message: null },
  "key-required": { status: 400, code: 10_029, message: null },
  "bad-key-for-object": { status: 403, code: 10_003, message: null },
  unavailable: { status: 503, code: 10_043, message: null },
} as const satisfies Record<ObjectFaultKind, StoreError>;

/** A key that is not there, and a condition that did not hold: results, but for the wire. */
export const NO_SUCH_KEY = {
  ok: false,
  status: 404,
  code: 10_007,
  message: "The specified key does not exist.",
} as const;
export const CONDITION_FAILED = {
  ok: false,
  status: 412,
  code: 10_031,
  message: "At least one of the pre-conditions you specified did not hold.",
} as const;
