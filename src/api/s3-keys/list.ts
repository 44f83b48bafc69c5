/** Lists the S3 keys of an account, without their secrets. */
import { endpoint } from "../endpoint.ts";
import { paged, pageQuery } from "../shapes.ts";
import { path, showKey } from "./shape.ts";

export const listS3Keys = endpoint({
  method: "GET",
  path,
  summary: "List S3 access keys",
  permission: "buckets.read",
  query: pageQuery,
  handle: async ({ params, query }, { s3Keys }) =>
    paged(await s3Keys.list(params.account_id), query, showKey),
});
