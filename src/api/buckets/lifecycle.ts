/** A bucket's lifecycle rules. */
import { endpoint } from "../endpoint.ts";
import { lifecycleInput, showLifecycleRule } from "./lifecycle-shape.ts";
import { paths } from "./paths.ts";
import { bucketOf, checkJurisdiction } from "./shape.ts";

export const getLifecycle = paths.map((path) =>
  endpoint({
    method: "GET",
    path: `${path}/:bucket_name/lifecycle`,
    summary: "Show a bucket's lifecycle rules",
    permission: "buckets.read",
    handle: async ({ params, headers }, { objects }) => {
      checkJurisdiction(headers);
      const rules = await objects.setting(await bucketOf(objects, params), "lifecycle");
      return { rules: (rules ?? []).map(showLifecycleRule) };
    },
  }),
);

export const setLifecycle = paths.map((path) =>
  endpoint({
    method: "PUT",
    path: `${path}/:bucket_name/lifecycle`,
    summary: "Set a bucket's lifecycle rules; none takes them away",
    permission: "buckets.edit",
    plainText: true,
    body: lifecycleInput,
    handle: async ({ params, body, headers }, { objects }) => {
      checkJurisdiction(headers);
      const bucket = await bucketOf(objects, params);
      if (body.rules.length === 0) await objects.removeSetting(bucket, "lifecycle");
      else await objects.setSetting(bucket, "lifecycle", body.rules);
      return {};
    },
  }),
);
