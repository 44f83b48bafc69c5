/** The S3 clients that this package holds, for the tests that import them from outside it. */
export * as S3 from "@aws-sdk/client-s3";
export type { LifecycleRule, S3Client } from "@aws-sdk/client-s3";
export { Upload } from "@aws-sdk/lib-storage";
export { createPresignedPost } from "@aws-sdk/s3-presigned-post";
export { getSignedUrl } from "@aws-sdk/s3-request-presigner";
export { Client as MinioClient } from "minio";
