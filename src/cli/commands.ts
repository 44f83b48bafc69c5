/** Every command of the client, one line each, in the order of the help. */
import { addDomain } from "./bucket-domains/add.ts";
import { listDomains } from "./bucket-domains/list.ts";
import { removeDomain } from "./bucket-domains/remove.ts";
import { createBucket } from "./buckets/create.ts";
import { deleteBucket } from "./buckets/delete.ts";
import { showBucket } from "./buckets/info.ts";
import { listBuckets } from "./buckets/list.ts";
import type { Command } from "./command.ts";
import { deleteCors } from "./cors/delete.ts";
import { listCors } from "./cors/list.ts";
import { setCors } from "./cors/set.ts";
import { createKey } from "./keys/create.ts";
import { listKeys } from "./keys/list.ts";
import { revokeKey } from "./keys/revoke.ts";
import { addLifecycle } from "./lifecycle/add.ts";
import { listLifecycle } from "./lifecycle/list.ts";
import { removeLifecycle } from "./lifecycle/remove.ts";
import { setLifecycle } from "./lifecycle/set.ts";
import { addNotification } from "./notifications/add.ts";
import { listNotifications } from "./notifications/list.ts";
import { removeNotification } from "./notifications/remove.ts";
import { retryNotification } from "./notifications/retry.ts";
import { deleteObjects } from "./objects/delete.ts";
import { getObjects } from "./objects/get.ts";
import { headObject } from "./objects/head.ts";
import { listObjects } from "./objects/list.ts";
import { putObjects } from "./objects/put.ts";
import { publicOff } from "./public-access/off.ts";
import { publicOn } from "./public-access/on.ts";
import { publicStatus } from "./public-access/status.ts";
import { addRecord } from "./records/add.ts";
import { editRecord } from "./records/edit.ts";
import { exportRecords } from "./records/export.ts";
import { recordHistory } from "./records/history.ts";
import { importRecords } from "./records/import.ts";
import { listRecords } from "./records/list.ts";
import { removeRecord } from "./records/remove.ts";
import { revertRecords } from "./records/revert.ts";
import { deleteScript } from "./scripts/delete.ts";
import { deployScript } from "./scripts/deploy.ts";
import { devScript } from "./scripts/dev.ts";
import { initProject } from "./scripts/init.ts";
import { listScripts } from "./scripts/list.ts";
import { rollbackScript } from "./scripts/rollback.ts";
import { bulkSecrets } from "./scripts/secret-bulk.ts";
import { deleteSecret } from "./scripts/secret-delete.ts";
import { listSecrets } from "./scripts/secret-list.ts";
import { putSecret } from "./scripts/secret-put.ts";
import { tailScript } from "./scripts/tail.ts";
import { writeTypes } from "./scripts/types.ts";
import { listVersions } from "./scripts/versions-list.ts";
import { viewVersion } from "./scripts/versions-view.ts";
import { whoami } from "./whoami.ts";
import { createZone } from "./zones/create.ts";
import { deleteZone } from "./zones/delete.ts";
import { showZone } from "./zones/info.ts";
import { listZones } from "./zones/list.ts";
import { zoneSettings } from "./zones/settings.ts";

/** What the first words stand for; small first letter, no full stop. */
export const groups = {
  versions: "the versions of a script",
  secret: "the secrets of a script, which it finds on env",
  bucket: "buckets, which hold objects",
  cors: "which pages of other origins may use a bucket",
  lifecycle: "what becomes of a bucket's objects with time",
  public: "whether anyone can read a bucket over S3",
  domain: "hostnames under which anyone can read a bucket",
  notification: "who is told of a bucket's changes",
  object: "the objects in a bucket",
  key: "access keys for S3 tools",
  zone: "zones: the domains that are answered for",
  record: "the DNS records of a zone",
} as const;

export const commands: readonly Command[] = [
  initProject,
  devScript,
  writeTypes,
  deployScript,
  listScripts,
  tailScript,
  listVersions,
  viewVersion,
  rollbackScript,
  putSecret,
  listSecrets,
  deleteSecret,
  bulkSecrets,
  deleteScript,

  listBuckets,
  createBucket,
  showBucket,
  deleteBucket,
  listCors,
  setCors,
  deleteCors,
  listLifecycle,
  addLifecycle,
  setLifecycle,
  removeLifecycle,
  publicStatus,
  publicOn,
  publicOff,
  listDomains,
  addDomain,
  removeDomain,
  addNotification,
  listNotifications,
  retryNotification,
  removeNotification,

  putObjects,
  getObjects,
  listObjects,
  headObject,
  deleteObjects,

  listKeys,
  createKey,
  revokeKey,

  listZones,
  createZone,
  showZone,
  deleteZone,
  zoneSettings,

  listRecords,
  addRecord,
  editRecord,
  removeRecord,
  importRecords,
  exportRecords,
  recordHistory,
  revertRecords,

  whoami,
];
