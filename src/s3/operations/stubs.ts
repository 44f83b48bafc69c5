/**
 * Settings of S3 that there are not: read, they say so in the form that keeps clients going; set, they are
 * refused, but where what is asked for is so already.
 */
import { childText } from "#kit/xml.ts";
import type { S3Call } from "../call.ts";
import type { S3Code } from "../codes.ts";
import { S3Fault } from "../fault.ts";
import { NO_CONTENT, type Operation, type S3Answer, xmlAnswer } from "../operation.ts";
import { refuseUnheard } from "../write-options.ts";
import { readXml, readXmlIfAny } from "../xml/read.ts";
import { group, tag, xmlDocument } from "../xml/write.ts";
import { checkVersion, noSuchKey } from "./object-place.ts";
import { ownerElement } from "./owner.ts";

/** Settings are small documents. */
const MAX_BODY = 64 * 1024;

/** What is the same of every bucket may be known by whoever has a key: tools ask for it before they work. */
const IS_SO_OF_ALL = "list-buckets";

/** Reads of a bucket's settings, each with what it says: a code where there is none, or a document. */
const READS: readonly (readonly [name: string, resource: string, says: S3Code | (() => string)])[] =
  [
    ["GetBucketPolicy", "policy", "NoSuchBucketPolicy"],
    ["GetBucketPolicyStatus", "policyStatus", "NoSuchBucketPolicy"],
    ["GetPublicAccessBlock", "publicAccessBlock", "NoSuchPublicAccessBlockConfiguration"],
    ["GetObjectLockConfiguration", "object-lock", "ObjectLockConfigurationNotFoundError"],
    ["GetBucketReplication", "replication", "ReplicationConfigurationNotFoundError"],
    ["GetBucketWebsite", "website", "NoSuchWebsiteConfiguration"],
    ["GetBucketOwnershipControls", "ownershipControls", "OwnershipControlsNotFoundError"],
    ["GetBucketVersioning", "versioning", () => xmlDocument("VersioningConfiguration", "")],
    ["GetBucketNotification", "notification", () => xmlDocument("NotificationConfiguration", "")],
    ["GetBucketLogging", "logging", () => xmlDocument("BucketLoggingStatus", "")],
    ["GetBucketAccelerate", "accelerate", () => xmlDocument("AccelerateConfiguration", "")],
    [
      "GetBucketRequestPayment",
      "requestPayment",
      () => xmlDocument("RequestPaymentConfiguration", tag("Payer", "BucketOwner")),
    ],
    ["GetBucketEncryption", "encryption", encryptionDocument],
  ];

function encryptionDocument(): string {
  const byDefault = group("ApplyServerSideEncryptionByDefault", tag("SSEAlgorithm", "AES256"));
  const rule = group("Rule", byDefault + tag("BucketKeyEnabled", false));
  return xmlDocument("ServerSideEncryptionConfiguration", rule);
}

const reads = READS.map(([name, resource, says]): Operation => ({
  name,
  method: "GET",
  on: "bucket",
  resource,
  action: IS_SO_OF_ALL,
  handle({ bucket }) {
    if (typeof says === "function") return xmlAnswer(says());
    throw new S3Fault(says, undefined, { extra: { BucketName: bucket.name } });
  },
}));

/** Tools take these away before they set others; there is nothing to take. */
const REMOVALS = [
  ["DeleteBucketPolicy", "policy"],
  ["DeletePublicAccessBlock", "publicAccessBlock"],
  ["DeleteBucketReplication", "replication"],
  ["DeleteBucketWebsite", "website"],
  ["DeleteBucketOwnershipControls", "ownershipControls"],
  ["DeleteBucketEncryption", "encryption"],
] as const;

const removals = REMOVALS.map(([name, resource]): Operation => ({
  name,
  method: "DELETE",
  on: "bucket",
  resource,
  action: "admin-write",
  handle: () => NO_CONTENT,
}));

const putBucketVersioning: Operation = {
  name: "PutBucketVersioning",
  method: "PUT",
  on: "bucket",
  resource: "versioning",
  action: "admin-write",
  async handle(call) {
    const root = await readXml(call, MAX_BODY);
    if (root.name !== "VersioningConfiguration") throw new S3Fault("MalformedXML");
    if (childText(root, "Status") === "Suspended") return {};
    throw new S3Fault("NotImplemented", "Versions of objects are not kept here.");
  },
};

/** Whoever owns the account may do all; nobody else has a part in it. */
function aclAnswer({ bucket }: S3Call): S3Answer {
  const grantee = ownerElement(bucket.accountId)
    .replace(
      "<Owner>",
      '<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">',
    )
    .replace("</Owner>", "</Grantee>");
  const grant = group("Grant", grantee + tag("Permission", "FULL_CONTROL"));
  const list = group("AccessControlList", grant);
  return xmlAnswer(xmlDocument("AccessControlPolicy", ownerElement(bucket.accountId) + list));
}

/** Grants that go beyond the owner's own would be lost in silence. */
async function putAcl(call: S3Call): Promise<S3Answer> {
  refuseUnheard(call);
  const root = await readXmlIfAny(call, MAX_BODY);
  if (root === null) return {};
  if (root.name !== "AccessControlPolicy") throw new S3Fault("MalformedXML");
  const list = root.children.find(({ name }) => name === "AccessControlList");
  const isOwners = (list?.children ?? []).every((grant) => {
    const grantee = grant.children.find(({ name }) => name === "Grantee");
    return grantee !== undefined && childText(grantee, "ID") === call.bucket.accountId;
  });
  if (list !== undefined && isOwners) return {};
  throw new S3Fault("NotImplemented", "Access for others cannot be granted by ACLs here.");
}

const acls: readonly Operation[] = [
  {
    name: "GetBucketAcl",
    method: "GET",
    on: "bucket",
    resource: "acl",
    action: IS_SO_OF_ALL,
    handle: aclAnswer,
  },
  {
    name: "PutBucketAcl",
    method: "PUT",
    on: "bucket",
    resource: "acl",
    action: "admin-write",
    handle: putAcl,
  },
  {
    name: "GetObjectAcl",
    method: "GET",
    on: "object",
    resource: "acl",
    action: "read",
    takes: ["versionId"],
    async handle(call, { store }) {
      checkVersion(call);
      if ((await store.head(call.bucket, call.key)) === null) throw noSuchKey(call);
      return aclAnswer(call);
    },
  },
  {
    name: "PutObjectAcl",
    method: "PUT",
    on: "object",
    resource: "acl",
    action: "write",
    takes: ["versionId"],
    async handle(call, { store }) {
      checkVersion(call);
      if ((await store.head(call.bucket, call.key)) === null) throw noSuchKey(call);
      return putAcl(call);
    },
  },
];

export const stubs: readonly Operation[] = [...reads, ...removals, putBucketVersioning, ...acls];
