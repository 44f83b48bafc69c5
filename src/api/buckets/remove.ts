/** Deletes a bucket, which must be empty. */
import { endpoint } from "../endpoint.ts";
import { paths } from "./paths.ts";
import { bucketOf, checkJurisdiction } from "./shape.ts";

export const removeBucket = paths.map((path) =>
  endpoint({
    method: "DELETE",
    path: `${path}/:bucket_name`,
    summary: "Delete an empty bucket",
    permission: "buckets.edit",
    handle: async ({ params, headers }, { objects }) => {
      checkJurisdiction(headers);
      const { name } = await bucketOf(objects, params);
      await objects.deleteBucket(name);
      return {};
    },
  }),
);
