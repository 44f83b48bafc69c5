/** Every operation of the S3 API, a line each. */
import { configurations } from "../configurations/index.ts";
import type { Operation } from "../operation.ts";
import { createBucket, deleteBucket, getBucketLocation, headBucket } from "./buckets.ts";
import { completeMultipartUpload } from "./complete-upload.ts";
import { copyObject } from "./copy-object.ts";
import { deleteObject } from "./delete-object.ts";
import { deleteObjects } from "./delete-objects.ts";
import { getObject } from "./get-object.ts";
import { headObject } from "./head-object.ts";
import { listBuckets } from "./list-buckets.ts";
import { listObjects, listObjectsV2, listObjectVersions } from "./list-objects.ts";
import { getObjectAttributes } from "./object-attributes.ts";
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from "./object-tagging.ts";
import { listParts, uploadPart } from "./parts.ts";
import { postObject } from "./post-object.ts";
import { putObject } from "./put-object.ts";
import { stubs } from "./stubs.ts";
import { uploadPartCopy } from "./upload-part-copy.ts";
import { abortMultipartUpload, createMultipartUpload, listMultipartUploads } from "./uploads.ts";

export const operations: readonly Operation[] = [
  listBuckets,
  createBucket,
  headBucket,
  deleteBucket,
  getBucketLocation,
  listObjects,
  listObjectsV2,
  listObjectVersions,
  listMultipartUploads,
  deleteObjects,
  postObject,

  putObject,
  getObject,
  headObject,
  deleteObject,
  copyObject,
  getObjectAttributes,
  getObjectTagging,
  putObjectTagging,
  deleteObjectTagging,

  createMultipartUpload,
  uploadPart,
  uploadPartCopy,
  listParts,
  completeMultipartUpload,
  abortMultipartUpload,

  ...configurations,
  ...stubs,
];
