/** Shows an S3 key, without its secret. */
import { endpoint } from "../endpoint.ts";
import { path, showKey } from "./shape.ts";

export const getS3Key = endpoint({
  method: "GET",
  path: `${path}/:access_key`, // Not `…_id`: the first one's may be of the operator's own making.
  summary: "Show an S3 access key",
  permission: "buckets.read",
  handle: async ({ params }, { s3Keys }) =>
    showKey(await s3Keys.get(params.account_id, params.access_key)),
});
