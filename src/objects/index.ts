/**
 * Objects in buckets. Rows of the database say what there is (`object-rows.ts`); small values lie in
 * their row, large ones in blobs, which a driver keeps under ids that are never used twice. A write puts its
 * blob on disk first and then commits the row, and the same commit hands what it replaced to the garbage
 * (`garbage.ts`); a blob without a row is an orphan, and swept (`orphans.ts`).
 */
export { openBlobs } from "./drivers/index.ts";
export { ObjectFault, type ObjectFaultKind } from "./fault.ts";
export type { ObjectLimits } from "./limits.ts";
export type {
  Algorithm,
  Body,
  BodyOptions,
  Bucket,
  ByteRange,
  Checksums,
  CompleteOptions,
  Conditions,
  EtagPattern,
  GetResult,
  HttpMetadata,
  ListOptions,
  ListPage,
  ObjectInfo,
  PutOptions,
  RangeRequest,
  StorageClass,
  Upload,
  UploadedPart,
  WriteOptions,
} from "./model.ts";
export { ObjectStore, type ObjectStoreOptions } from "./object-store.ts";
export { objectMigrations } from "./schema.ts";
export type { Swept } from "./sweep.ts";
