/**
 * Objects in buckets. Rows of the database say what there is (`object-rows.ts`); small values lie in
 * their row, large ones in blobs, which a driver keeps under ids that are never used twice. A write puts its
 * blob on disk first and then commits the row, and the same commit hands what it replaced to the garbage
 * (`garbage.ts`); a blob without a row is an orphan, and swept (`orphans.ts`).
 */
export { leave } from "./bodies.ts";
export { conditionsHold } from "./conditions.ts";
export { BucketDomains, type BucketDomain } from "./domains/bucket-domains.ts";
export { bucketDomainMigrations } from "./domains/schema.ts";
export { EventDelivery } from "./events/delivery.ts";
export { eventName, type QueueMessage } from "./events/messages.ts";
export type {
  DeliveryState,
  EventType,
  NewNotification,
  Notification,
  ObjectEvent,
  Target,
} from "./events/model.ts";
export { Notifications, type WithSecret } from "./events/notifications.ts";
export { digestOf } from "./digest.ts";
export { openBlobs } from "./drivers/index.ts";
export { ObjectFault, type ObjectFaultKind } from "./fault.ts";
export { abortionOf, type Due, expirationOf } from "./lifecycle/due.ts";
export type { CarriedOut } from "./lifecycle/lifecycle.ts";
export type { ObjectLimits } from "./limits.ts";
export type {
  Algorithm,
  Body,
  BodyOptions,
  Bucket,
  ByteRange,
  CameBy,
  ChecksumType,
  Checksums,
  Conditions,
  CustomerKey,
  DeleteConditions,
  DeleteOutcome,
  EtagPattern,
  ExpectedChecksum,
  FoundObject,
  GetOptions,
  GetResult,
  HeadOptions,
  HttpMetadata,
  ListOptions,
  ListPage,
  ObjectInfo,
  PutOptions,
  RangeRequest,
  StorageClass,
  WriteOptions,
} from "./model.ts";
export type {
  ChecksumChoice,
  CompleteOptions,
  NamedChecksum,
  ObjectPartPage,
  PartInfo,
  PartListOptions,
  PartOptions,
  PartPage,
  StoredPart,
  Upload,
  UploadListOptions,
  UploadOptions,
  UploadPage,
  UploadedPart,
} from "./upload-model.ts";
export { ObjectStore, type ObjectStoreOptions } from "./object-store.ts";
export { resolveRange } from "./ranges.ts";
export { objectMigrations } from "./schema.ts";
export type { CorsRule } from "./settings/cors.ts";
export type {
  LifecycleFilter,
  LifecycleForVersions,
  LifecycleRule,
  LifecycleTime,
  LifecycleTransition,
} from "./settings/lifecycle.ts";
export type { SettingName, SettingValue } from "./settings/names.ts";
export type { PublicAccess } from "./settings/public-access.ts";
export type { Swept } from "./sweep.ts";
