/** Who may do what to the objects of a bucket. */
import type { IncomingMessage } from "node:http";
import type { Accounts, Identity, Permission } from "#accounts";
import type { Bucket, ObjectStore } from "#objects";

export type ObjectPermission = Extract<Permission, "objects.read" | "objects.edit">;

/** A bucket that was asked for, and what whoever asks may do there. */
export interface Access {
  readonly bucket: Bucket;
  /** For the log. */
  readonly actor: string;
  /** The script that asks, if it is one. */
  readonly scriptId?: string;
  may(permission: ObjectPermission): Promise<boolean>;
}

/**
 * Finds out who asks, before anything of the body is read. Throws an `AccountFault` for strangers, an
 * `ObjectFault` for a bucket that is not there.
 */
export type Authorize<R = IncomingMessage> = (request: R, bucketName: string) => Promise<Access>;

export interface ApiAccessOptions {
  readonly identify: (request: IncomingMessage) => Promise<Identity>;
  readonly accounts: Accounts;
  readonly store: ObjectStore;
}

/** With the credentials of the management API. */
export function apiAccess({ identify, accounts, store }: ApiAccessOptions): Authorize {
  return async (request, bucketName) => {
    const identity = await identify(request);
    const bucket = await store.bucket(bucketName);
    const resource = { kind: "bucket", bucket: bucket.name, account: bucket.accountId } as const;
    return {
      bucket,
      actor: `${identity.kind}:${identity.id}`,
      may: (permission) => accounts.may(identity, permission, resource),
    };
  };
}
