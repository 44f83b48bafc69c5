/** Revokes an S3 key; it and what was derived from it stop working at once. */
import { endpoint } from "../endpoint.ts";
import { path } from "./shape.ts";

export const revokeS3Key = endpoint({
  method: "DELETE",
  path: `${path}/:access_key`,
  summary: "Revoke an S3 access key",
  permission: "buckets.edit",
  handle: async ({ params }, { s3Keys }) => {
    await s3Keys.revoke(params.account_id, params.access_key);
    return { access_key_id: params.access_key };
  },
});
