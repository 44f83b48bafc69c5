/** Makes temporary credentials from an S3 key, in the original's own spelling. */
import { z } from "zod";
import {
  AccountFault,
  MAX_SESSION_SECONDS,
  mintTemporary,
  permissionOfScope,
  type S3Permission,
} from "#accounts";
import { endpoint } from "../endpoint.ts";

const DEFAULT_SECONDS = 900;
const MAX_PATHS = 100;

const paths = z
  .array(z.string())
  .max(MAX_PATHS)
  .nullish()
  .transform((given) => given ?? []);

const input = z
  .object({
    bucket: z.string(),
    parentAccessKeyId: z.string().max(256),
    permission: z.enum([
      "admin-read-write",
      "admin-read-only",
      "object-read-write",
      "object-read-only",
    ]),
    ttlSeconds: z.number().int().min(1).max(MAX_SESSION_SECONDS).default(DEFAULT_SECONDS),
    prefixes: paths,
    objects: paths,
  })
  .transform(({ permission, ...rest }) => ({
    ...rest,
    permission: permissionOfScope.get(permission) as S3Permission,
  }));

export const createTemporaryCredentials = endpoint({
  method: "POST",
  path: "/accounts/:account_id/r2/temp-access-credentials",
  summary: "Create temporary S3 credentials",
  permission: "buckets.edit",
  body: input,
  handle: async ({ params, body }, { s3Keys, now }) => {
    const { parentAccessKeyId, ...wish } = body;
    const parent = await s3Keys.find(parentAccessKeyId);
    if (parent?.accountId === params.account_id) return mintTemporary(parent, wish, now());
    throw new AccountFault(
      "no-such-key",
      `There is no S3 key ${parentAccessKeyId} in this account`,
    );
  },
});
