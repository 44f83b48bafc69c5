/**
 * Whether anyone may read a bucket over the S3 API. The original has a domain of its own for that, under which its
 * tools look; here it is the bucket's place in the S3 API.
 */
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import type { Bucket, PublicAccess } from "#objects";
import { endpoint } from "../endpoint.ts";
import { paths } from "./paths.ts";
import { bucketOf, checkJurisdiction } from "./shape.ts";

/** `listing` is ours: whether anyone may also list the bucket. */
const input = z.object({ enabled: z.boolean(), listing: z.boolean().default(false) });

const NOT_PUBLIC: PublicAccess = { enabled: false, listing: false };

export const getPublicAccess = paths.map((path) =>
  endpoint({
    method: "GET",
    path: `${path}/:bucket_name/domains/managed`,
    summary: "Show whether anyone may read a bucket",
    permission: "buckets.read",
    handle: async ({ params, headers }, { objects, s3Host }) => {
      checkJurisdiction(headers);
      const bucket = await bucketOf(objects, params);
      const access = (await objects.setting(bucket, "public")) ?? NOT_PUBLIC;
      return showAccess(bucket, access, reachable(s3Host, headers));
    },
  }),
);

export const setPublicAccess = paths.map((path) =>
  endpoint({
    method: "PUT",
    path: `${path}/:bucket_name/domains/managed`,
    summary: "Let anyone read a bucket, or nobody without a key",
    permission: "buckets.edit",
    plainText: true,
    body: input,
    handle: async ({ params, body, headers }, { objects, s3Host }) => {
      checkJurisdiction(headers);
      const bucket = await bucketOf(objects, params);
      const access = body.enabled ? body : NOT_PUBLIC;
      await objects.setSetting(bucket, "public", access);
      return showAccess(bucket, access, reachable(s3Host, headers));
    },
  }),
);

/** A listener on every address of the server. */
const ANYWHERE = /^(?:0\.0\.0\.0|\[::\])(?=:)/;

/** Nobody can open that; whoever reaches the API under a name reaches S3 there, too. */
function reachable(s3Host: string, { host = "" }: IncomingHttpHeaders): string {
  const name = host.replace(/:\d*$/, "");
  return name === "" ? s3Host : s3Host.replace(ANYWHERE, () => name);
}

function showAccess({ id, name }: Bucket, access: PublicAccess, s3Host: string): object {
  return { bucketId: id, domain: `${s3Host}/${name}`, ...access };
}
