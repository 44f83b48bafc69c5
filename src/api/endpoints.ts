/** Every operation of the management API, one line each. */
import { createAccount } from "./accounts/create.ts";
import { editAccount } from "./accounts/edit.ts";
import { getAccount } from "./accounts/get.ts";
import { listAccounts } from "./accounts/list.ts";
import { notificationEndpoints } from "./bucket-events/endpoints.ts";
import { queueEndpoints } from "./bucket-events/queues.ts";
import { absentBucketFeatures } from "./buckets/absent.ts";
import { getCors, removeCors, setCors } from "./buckets/cors.ts";
import { createBucket } from "./buckets/create.ts";
import {
  attachBucketDomain,
  editBucketDomain,
  getBucketDomain,
  listBucketDomains,
  removeBucketDomain,
} from "./buckets/custom-domains.ts";
import { editBucket } from "./buckets/edit.ts";
import { getBucket } from "./buckets/get.ts";
import { getLifecycle, setLifecycle } from "./buckets/lifecycle.ts";
import { listBuckets } from "./buckets/list.ts";
import { bucketMetrics } from "./buckets/metrics.ts";
import { getPublicAccess, setPublicAccess } from "./buckets/public-access.ts";
import { removeBucket } from "./buckets/remove.ts";
import {
  createCustomCertificate,
  editCustomCertificate,
  getCustomCertificate,
  listCustomCertificates,
  prioritizeCustomCertificates,
  removeCustomCertificate,
} from "./certificates/custom.ts";
import {
  editUniversal,
  editVerification,
  getPack,
  getUniversal,
  listPacks,
  listVerifications,
  orderPack,
  packQuota,
  removePack,
  restartPack,
} from "./certificates/packs.ts";
import { purgeCache } from "./cache/purge.ts";
import { batchRecords } from "./dns-records/batch.ts";
import { createRecord } from "./dns-records/create.ts";
import { editRecord } from "./dns-records/edit.ts";
import { exportRecords } from "./dns-records/export.ts";
import { getRecord } from "./dns-records/get.ts";
import { recordHistory } from "./dns-records/history.ts";
import { importRecords } from "./dns-records/import.ts";
import { listRecords } from "./dns-records/list.ts";
import { overwriteRecord } from "./dns-records/overwrite.ts";
import { removeRecord } from "./dns-records/remove.ts";
import { revertRecords } from "./dns-records/revert.ts";
import { scanRecords } from "./dns-records/scan.ts";
import { accountUsage, recordUsage } from "./dns-records/usage.ts";
import { editDnsSettings } from "./dns-settings/edit.ts";
import { getDnsSettings } from "./dns-settings/get.ts";
import type { Endpoint } from "./endpoint.ts";
import { getObject } from "./objects/get.ts";
import { listObjects } from "./objects/list.ts";
import { putObject } from "./objects/put.ts";
import { removeObject } from "./objects/remove.ts";
import { createS3Key } from "./s3-keys/create.ts";
import { getS3Key } from "./s3-keys/get.ts";
import { listS3Keys } from "./s3-keys/list.ts";
import { revokeS3Key } from "./s3-keys/revoke.ts";
import { createTemporaryCredentials } from "./s3-keys/temporary.ts";
import { getDomain, listDomains, putDomain, removeDomain } from "./script-domains/endpoints.ts";
import { planScriptDomains, setScriptDomains } from "./script-domains/of-script.ts";
import {
  createRoute,
  editRoute,
  getRoute,
  listRoutes,
  removeRoute,
} from "./script-routes/endpoints.ts";
import { setScriptRoutes } from "./script-routes/set-of-script.ts";
import { listSchedules, setSchedules } from "./script-schedules/endpoints.ts";
import {
  getSecret,
  listSecrets,
  patchSecrets,
  putSecret,
  removeSecret,
} from "./script-secrets/endpoints.ts";
import {
  getScriptSubdomain,
  getSubdomain,
  putSubdomain,
  removeScriptSubdomain,
  setScriptSubdomain,
} from "./script-subdomain/endpoints.ts";
import { createTail, listTails, removeTail } from "./script-tails/endpoints.ts";
import { createVersion } from "./script-versions/create.ts";
import { createDeployment, getDeployment, listDeployments } from "./script-versions/deployments.ts";
import { getVersion } from "./script-versions/get.ts";
import { listVersions } from "./script-versions/list.ts";
import { patchLatestVersion } from "./script-versions/patch-latest.ts";
import { getContent, putContent } from "./scripts/content.ts";
import { listScripts } from "./scripts/list.ts";
import { removeScript } from "./scripts/remove.ts";
import {
  absentScriptFeatures,
  environmentEndpoints,
  getService,
  getWorker,
} from "./scripts/services.ts";
import {
  editScriptSettings,
  editSettings,
  getScriptSettings,
  getSettings,
} from "./scripts/settings.ts";
import { uploadScript } from "./scripts/upload.ts";
import { createToken } from "./tokens/create.ts";
import { editToken } from "./tokens/edit.ts";
import { getToken } from "./tokens/get.ts";
import { listTokens } from "./tokens/list.ts";
import { listPermissionGroups } from "./tokens/permission-groups.ts";
import { removeToken } from "./tokens/remove.ts";
import { rollToken } from "./tokens/roll.ts";
import { verifyToken } from "./tokens/verify.ts";
import { editUser } from "./user/edit.ts";
import { getUser } from "./user/get.ts";
import { listMemberships } from "./user/memberships.ts";
import { editZoneSettings } from "./zone-settings/edit-many.ts";
import { editZoneSetting } from "./zone-settings/edit.ts";
import { getZoneSetting } from "./zone-settings/get.ts";
import { listZoneSettings } from "./zone-settings/list.ts";
import { absentFeatures } from "./zones/absent.ts";
import { checkActivation } from "./zones/activation-check.ts";
import { createZone } from "./zones/create.ts";
import { editZone } from "./zones/edit.ts";
import { getZone } from "./zones/get.ts";
import { listZones } from "./zones/list.ts";
import { removeZone } from "./zones/remove.ts";

/** A fixed path stands before one whose last part is a parameter. */
export const endpoints: readonly Endpoint[] = [
  getUser,
  editUser,
  listMemberships,

  listAccounts,
  createAccount,
  getAccount,
  editAccount,

  ...verifyToken,
  ...listPermissionGroups,
  ...listTokens,
  ...createToken,
  ...getToken,
  ...editToken,
  ...rollToken,
  ...removeToken,

  listZones,
  createZone,
  getZone,
  editZone,
  removeZone,
  checkActivation,
  ...absentFeatures,
  listZoneSettings,
  editZoneSettings,
  getZoneSetting,
  editZoneSetting,
  getDnsSettings,
  editDnsSettings,
  purgeCache,

  listRecords,
  createRecord,
  batchRecords,
  exportRecords,
  importRecords,
  ...scanRecords,
  recordUsage,
  accountUsage,
  recordHistory,
  revertRecords,
  getRecord,
  overwriteRecord,
  editRecord,
  removeRecord,

  listCustomCertificates,
  createCustomCertificate,
  prioritizeCustomCertificates,
  getCustomCertificate,
  editCustomCertificate,
  removeCustomCertificate,
  listPacks,
  orderPack,
  packQuota,
  getPack,
  restartPack,
  removePack,
  getUniversal,
  editUniversal,
  listVerifications,
  editVerification,

  ...listBuckets,
  ...createBucket,
  ...getBucket,
  ...editBucket,
  ...removeBucket,
  ...getCors,
  ...setCors,
  ...removeCors,
  ...getLifecycle,
  ...setLifecycle,
  ...getPublicAccess,
  ...setPublicAccess,
  ...listBucketDomains,
  ...attachBucketDomain,
  ...getBucketDomain,
  ...editBucketDomain,
  ...removeBucketDomain,
  ...notificationEndpoints,
  ...queueEndpoints,
  ...absentBucketFeatures,
  bucketMetrics,
  ...listObjects,
  ...getObject,
  ...putObject,
  ...removeObject,
  listS3Keys,
  createS3Key,
  getS3Key,
  revokeS3Key,
  createTemporaryCredentials,

  listScripts,
  uploadScript,
  ...getContent,
  putContent,
  ...removeScript,
  getSettings,
  editSettings,
  getScriptSettings,
  editScriptSettings,
  getService,
  ...environmentEndpoints,
  getWorker,
  ...absentScriptFeatures,

  createVersion,
  listVersions,
  getVersion,
  patchLatestVersion,
  listDeployments,
  getDeployment,
  createDeployment,

  listSecrets,
  getSecret,
  putSecret,
  removeSecret,
  patchSecrets,

  getSubdomain,
  putSubdomain,
  getScriptSubdomain,
  setScriptSubdomain,
  removeScriptSubdomain,

  listSchedules,
  setSchedules,

  listRoutes,
  createRoute,
  getRoute,
  editRoute,
  removeRoute,
  setScriptRoutes,

  ...listDomains,
  ...getDomain,
  putDomain,
  removeDomain,
  planScriptDomains,
  setScriptDomains,

  createTail,
  listTails,
  removeTail,
];
