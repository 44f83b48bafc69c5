/** Makes an S3 key. Its secret is in this answer and never again. */
import { endpoint } from "../endpoint.ts";
import { keyInput, path, showKey } from "./shape.ts";

export const createS3Key = endpoint({
  method: "POST",
  path,
  summary: "Create an S3 access key",
  permission: "buckets.edit",
  body: keyInput,
  handle: async ({ params, body }, { s3Keys }) => {
    const key = await s3Keys.create(params.account_id, body);
    return { ...showKey(key), secret_access_key: key.secretAccessKey };
  },
});
