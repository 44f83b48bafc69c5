/** Access to the buckets that a script has bound, with the token that its process was given. */
import type { IncomingMessage } from "node:http";
import { AccountFault } from "#accounts";
import { ObjectFault, type ObjectStore } from "#objects";
import type { StoreGrant } from "#scripts";
import type { Authorize } from "./access.ts";

/** A binding is full access to its bucket's objects, and to no other bucket. */
export function scriptAccess(
  grant: (token: string) => StoreGrant | null,
  store: ObjectStore,
): Authorize<Pick<IncomingMessage, "headers">> {
  return async ({ headers }, bucketName) => {
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? "")?.[1];
    const granted = token === undefined ? null : grant(token);
    if (granted === null) throw new AccountFault("unknown-token", "This is no script's token");
    if (!granted.buckets.has(bucketName)) {
      throw new AccountFault("forbidden", "The script has not bound this bucket");
    }
    const bucket = await store.bucket(bucketName);
    // A bucket may be deleted, and its name be taken by another account.
    if (bucket.accountId !== granted.accountId) {
      throw new ObjectFault("no-such-bucket", "The bucket is another account's");
    }
    const { scriptId, scriptName } = granted;
    return { bucket, scriptId, actor: `script:${scriptName}`, may: async () => true };
  };
}
