/** A bucket in the API's spelling. */
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { type Bucket, ObjectFault, type ObjectStore } from "#objects";
import { invalidFields } from "../errors.ts";
import { showTime } from "../shapes.ts";

/** The original's one place for all who ask for none. */
const JURISDICTION = "default";

export const storageClass = z.enum(["Standard", "InfrequentAccess"]);

/** `locationHint` and `storageClass` as the original has them; the other spelling is that of its answers. */
export const newBucketInput = z
  .object({
    name: z.string(),
    // There is one place here; whoever asks for another gets a bucket all the same, as in the original.
    locationHint: z.string().max(40).nullish(),
    storageClass: storageClass.nullish(),
    storage_class: storageClass.nullish(),
  })
  .transform(({ name, storageClass, storage_class }) => ({
    name,
    storageClass: storageClass ?? storage_class ?? "Standard",
  }));

export function showBucket({ name, createdAt, storageClass }: Bucket): object {
  return {
    name,
    creation_date: showTime(createdAt),
    location: null,
    storage_class: storageClass,
    jurisdiction: JURISDICTION,
  };
}

/** Throws when the caller asks for a place that there is not. */
export function checkJurisdiction(headers: IncomingHttpHeaders): void {
  const asked = headers["cf-r2-jurisdiction"];
  if (asked === undefined || asked === JURISDICTION) return;
  const message = `cf-r2-jurisdiction: the only jurisdiction here is "${JURISDICTION}"`;
  throw invalidFields([{ pointer: "/", message }]);
}

/** The account's bucket of that name. Another account's is not there for it. */
export async function bucketOf(
  objects: ObjectStore,
  { account_id, bucket_name }: { readonly account_id: string; readonly bucket_name: string },
): Promise<Bucket> {
  const bucket = await objects.bucket(bucket_name);
  if (bucket.accountId === account_id) return bucket;
  throw new ObjectFault("no-such-bucket", `There is no bucket ${bucket_name} in this account`);
}
