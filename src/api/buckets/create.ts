/** Makes a bucket. */
import { ObjectFault } from "#objects";
import { endpoint } from "../endpoint.ts";
import { nameTaken } from "../errors.ts";
import { paths } from "./paths.ts";
import { checkJurisdiction, newBucketInput, showBucket } from "./shape.ts";

export const createBucket = paths.map((path) =>
  endpoint({
    method: "POST",
    path,
    summary: "Create a bucket",
    permission: "buckets.edit",
    plainText: true,
    body: newBucketInput,
    handle: async ({ params, body, headers }, { objects }) => {
      checkJurisdiction(headers);
      const { name, storageClass } = body;
      try {
        return showBucket(await objects.createBucket(params.account_id, name, { storageClass }));
      } catch (error) {
        if (!(error instanceof ObjectFault) || error.kind !== "bucket-exists") throw error;
        // One's own and another's have codes of their own: tools take the first for success.
        const { accountId } = await objects.bucket(name);
        throw accountId === params.account_id ? error : nameTaken();
      }
    },
  }),
);
