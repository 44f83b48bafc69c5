/** What wrangler asks of a bucket and this platform does not have: shown as not there, and refused by its name. */
import { endpoint } from "../endpoint.ts";
import { noSippy, notOffered } from "../errors.ts";
import { bucketOf, checkJurisdiction } from "./shape.ts";

const BUCKET = "/accounts/:account_id/r2/buckets/:bucket_name";

const NO_LOCKS = "Bucket locks are not offered here: give out access keys that only read instead";
const NO_SIPPY = "Sippy is not offered here: copy the objects with an S3 tool such as rclone";
const NO_LOCAL_UPLOADS = "Local uploads are not offered here: there is one place for objects";
const NO_CATALOG = "Data catalogs are not offered here: buckets keep objects only";

export const absentBucketFeatures = [
  shown("lock", () => ({ rules: [] })),
  refused("PUT", "lock", NO_LOCKS),
  shown("sippy", () => {
    throw noSippy();
  }),
  refused("PUT", "sippy", NO_SIPPY),
  refused("DELETE", "sippy", NO_SIPPY),
  shown("local-uploads", () => ({ enabled: false })),
  refused("PUT", "local-uploads", NO_LOCAL_UPLOADS),
  ...(["GET", "POST"] as const).map((method) =>
    endpoint({
      method,
      path: "/accounts/:account_id/r2-catalog/*catalog",
      summary: "Data catalogs: there are none",
      permission: "buckets.read",
      handle: () => {
        throw notOffered(NO_CATALOG);
      },
    }),
  ),
];

function shown(feature: string, show: () => object) {
  return absent("GET", feature, "buckets.read", show);
}

function refused(method: "PUT" | "DELETE", feature: string, message: string) {
  return absent(method, feature, "buckets.edit", () => {
    throw notOffered(message);
  });
}

function absent(
  method: "GET" | "PUT" | "DELETE",
  feature: string,
  permission: "buckets.read" | "buckets.edit",
  answer: () => object,
) {
  return endpoint({
    method,
    path: `${BUCKET}/${feature}` as typeof BUCKET,
    summary: "A feature of the original: there is none",
    permission,
    handle: async ({ params, headers }, { objects }) => {
      checkJurisdiction(headers);
      await bucketOf(objects, params);
      return answer();
    },
  });
}
