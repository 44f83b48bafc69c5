/** Whether the caller may do what it asks for, and where: finds the bucket on the way. */
import type { Bucket } from "#objects";
import type { Caller } from "./auth/index.ts";
import type { S3Call } from "./call.ts";
import { toS3Fault } from "./errors.ts";
import { S3Fault } from "./fault.ts";
import type { Operation, S3Parts } from "./operation.ts";
import { isForAnyone, mayBeForAnyone } from "./public/anyone.ts";

/** Sets the bucket of the call, unless the operation does without. At once where it is at hand. */
export function admit(call: S3Call, operation: Operation, parts: S3Parts): Promise<void> | void {
  const { caller, target } = call;
  const name = target.bucket;
  if (caller === null || !hasGrant(call, caller, operation)) {
    return admitAnyone(call, operation, name, parts);
  }
  if (name === "" || operation.withoutBucket === true) return;
  const bucket = parts.store.bucketAtHand(name);
  if (bucket === null || bucket.accountId !== caller.accountId) {
    return admitFound(call, operation, caller, parts);
  }
  admitTo(call, bucket);
}

async function admitFound(
  call: S3Call,
  operation: Operation,
  { accountId }: Caller,
  parts: S3Parts,
): Promise<void> {
  const name = call.target.bucket;
  const mayCreate = operation.mayCreateBucket === true;
  const bucket = (await find(name, parts)) ?? (mayCreate ? await create(call, name, parts) : null);
  if (bucket === null) throw noSuchBucket(name);
  if (bucket.accountId !== accountId) return admitAnyone(call, operation, name, parts);
  admitTo(call, bucket);
}

function hasGrant(call: S3Call, caller: Caller, { action, name: operation }: Operation): boolean {
  const { bucket } = call.target;
  // A list is of the keys under its prefix.
  const key = action === "list" ? (call.query("prefix") ?? "") : call.key;
  return caller.may(action, bucket === "" ? null : bucket, key, operation);
}

/** Whoever it is reads what is public, and sends forms, which are signed themselves. */
async function admitAnyone(
  call: S3Call,
  operation: Operation,
  name: string,
  parts: S3Parts,
): Promise<void> {
  const isForm = operation.authorisesItself === true;
  const bucket = isForm || mayBeForAnyone(operation) ? await find(name, parts) : null;
  // To strangers a bucket that is not there looks like one that is not for them.
  if (bucket === null || !(isForm || (await isForAnyone(operation, bucket, parts.store)))) {
    throw new S3Fault("AccessDenied");
  }
  admitTo(call, bucket);
}

function admitTo(call: S3Call, bucket: Bucket): void {
  const expected = call.header("x-amz-expected-bucket-owner");
  if (expected !== undefined && expected !== bucket.accountId) throw new S3Fault("AccessDenied");
  call.bucket = bucket;
}

async function find(name: string, { store }: S3Parts): Promise<Bucket | null> {
  try {
    return store.bucketAtHand(name) ?? (await store.bucket(name));
  } catch (error) {
    if (toS3Fault(error)?.code === "NoSuchBucket") return null;
    throw error;
  }
}

/** R2's: a write may make the bucket that it goes to. */
async function create(call: S3Call, name: string, { store }: S3Parts): Promise<Bucket | null> {
  if (call.header("cf-create-bucket-if-missing") !== "true") return null;
  const { accountId } = call.caller!;
  if (!call.caller!.may("admin-write", name, "", "CreateBucket")) throw new S3Fault("AccessDenied");
  try {
    return await store.createBucket(accountId, name);
  } catch (error) {
    if (toS3Fault(error)?.code !== "BucketAlreadyExists") throw error;
    return store.bucket(name); // Another write has made it meanwhile.
  }
}

function noSuchBucket(name: string): S3Fault {
  return new S3Fault("NoSuchBucket", undefined, { extra: { BucketName: name } });
}
