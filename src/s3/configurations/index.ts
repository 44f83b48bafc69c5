/** The settings of buckets that S3 has documents for. */
import type { Operation } from "../operation.ts";
import { configuration } from "./configuration.ts";
import { CORS_ROOT, readCors, writeCors } from "./cors-xml.ts";
import { writeLifecycle } from "./lifecycle-write.ts";
import { LIFECYCLE_ROOT, readLifecycle } from "./lifecycle-xml.ts";
import { readTagging, TAGGING_ROOT, writeTagging } from "./tagging-xml.ts";

/** What AWS takes. */
const SMALL = 64 * 1024;
/** For a thousand rules. */
const LARGE = 8 * SMALL;

export const configurations: readonly Operation[] = [
  ...configuration({
    setting: "cors",
    name: "BucketCors",
    resource: "cors",
    root: CORS_ROOT,
    maxOctets: SMALL,
    read: readCors,
    write: writeCors,
    unset: "NoSuchCORSConfiguration",
  }),
  ...configuration({
    setting: "lifecycle",
    name: "BucketLifecycleConfiguration",
    deleteName: "BucketLifecycle",
    resource: "lifecycle",
    root: LIFECYCLE_ROOT,
    maxOctets: LARGE,
    read: readLifecycle,
    write: writeLifecycle,
    unset: "NoSuchLifecycleConfiguration",
  }),
  ...configuration({
    setting: "tags",
    name: "BucketTagging",
    resource: "tagging",
    root: TAGGING_ROOT,
    maxOctets: SMALL,
    read: readTagging,
    write: writeTagging,
    unset: "NoSuchTagSet",
  }),
];
