/** Buckets of the account: made, looked for, located, removed. */
import { childText } from "#kit/xml.ts";
import { ObjectFault } from "#objects";
import type { S3Call } from "../call.ts";
import { S3Fault } from "../fault.ts";
import { NO_CONTENT, type Operation, xmlAnswer } from "../operation.ts";
import { storageClassOf } from "../object-metadata.ts";
import { refuseUnheard } from "../write-options.ts";
import { xmlDocument } from "../xml/write.ts";
import { readXmlIfAny } from "../xml/read.ts";

/** Where all buckets are; clients sign for it, or for `us-east-1`, which S3 shows as nothing. */
export const REGION = "auto";

/** What a new bucket may ask for: the region itself, what S3 has for none, R2's hints, and S3's oldest. */
const LOCATIONS: ReadonlySet<string> = new Set([
  "",
  "auto",
  "us-east-1",
  "wnam",
  "enam",
  "weur",
  "eeur",
  "apac",
  "oc",
  "eu",
]);

/** Clients name the region that they are set to for all they do, as `aws s3 mb` does: here each is this one. */
const REGION_OF_S3 = /^[a-z]{2,3}(?:-[a-z]+)+-\d$/;

/** A document of one element. */
const MAX_CONFIGURATION = 64 * 1024;

export const createBucket: Operation = {
  name: "CreateBucket",
  method: "PUT",
  on: "bucket",
  action: "admin-write",
  withoutBucket: true,
  async handle(call, { store }) {
    refuseUnheard(call);
    const name = call.target.bucket;
    const storageClass = storageClassOf(call);
    await checkLocation(call);
    try {
      await store.createBucket(call.caller!.accountId, name, {
        ...(storageClass !== undefined && { storageClass }),
      });
    } catch (error) {
      // Made again by its owner it stays as it is, as in S3's first region.
      const isThere = error instanceof ObjectFault && error.kind === "bucket-exists";
      if (!isThere || (await store.bucket(name)).accountId !== call.caller!.accountId) throw error;
    }
    return { headers: ["Location", `/${name}`] };
  },
};

async function checkLocation(call: S3Call): Promise<void> {
  const root = await readXmlIfAny(call, MAX_CONFIGURATION);
  if (root === null) return;
  if (root.name !== "CreateBucketConfiguration") throw new S3Fault("MalformedXML");
  const location = childText(root, "LocationConstraint") ?? "";
  if (LOCATIONS.has(location.toLowerCase()) || REGION_OF_S3.test(location)) return;
  const message = `The location "${location.slice(0, 80)}" is none of this server's.`;
  throw new S3Fault("IllegalLocationConstraintException", message);
}

export const headBucket: Operation = {
  name: "HeadBucket",
  method: "HEAD",
  on: "bucket",
  action: "list-buckets",
  handle: () => ({ headers: ["x-amz-bucket-region", REGION] }),
};

export const deleteBucket: Operation = {
  name: "DeleteBucket",
  method: "DELETE",
  on: "bucket",
  action: "admin-write",
  async handle({ bucket }, { store }) {
    await store.deleteBucket(bucket.name);
    return NO_CONTENT;
  },
};

export const getBucketLocation: Operation = {
  name: "GetBucketLocation",
  method: "GET",
  on: "bucket",
  resource: "location",
  action: "list-buckets",
  handle: () => xmlAnswer(xmlDocument("LocationConstraint", REGION)),
};
