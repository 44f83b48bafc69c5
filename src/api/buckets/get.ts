/** Shows a bucket. */
import { endpoint } from "../endpoint.ts";
import { paths } from "./paths.ts";
import { bucketOf, checkJurisdiction, showBucket } from "./shape.ts";

export const getBucket = paths.map((path) =>
  endpoint({
    method: "GET",
    path: `${path}/:bucket_name`,
    summary: "Show a bucket",
    permission: "buckets.read",
    handle: async ({ params, headers }, { objects }) => {
      checkJurisdiction(headers);
      return showBucket(await bucketOf(objects, params));
    },
  }),
);
