/** A bucket's CORS rules, in the original's spelling. */
import { z } from "zod";
import type { CorsRule } from "#objects";
import { endpoint } from "../endpoint.ts";
import { noCors } from "../errors.ts";
import { paths } from "./paths.ts";
import { bucketOf, checkJurisdiction } from "./shape.ts";

const input = z.object({
  rules: z.array(
    z.object({
      id: z.string().optional(),
      allowed: z.object({
        origins: z.array(z.string()),
        methods: z.array(z.string()),
        headers: z.array(z.string()).default([]),
      }),
      exposeHeaders: z.array(z.string()).default([]),
      maxAgeSeconds: z.number().optional(),
    }),
  ),
});

export const getCors = paths.map((path) =>
  endpoint({
    method: "GET",
    path: `${path}/:bucket_name/cors`,
    summary: "Show a bucket's CORS rules",
    permission: "buckets.read",
    handle: async ({ params, headers }, { objects }) => {
      checkJurisdiction(headers);
      const rules = await objects.setting(await bucketOf(objects, params), "cors");
      if (rules === null) throw noCors();
      return { rules: rules.map(showRule) };
    },
  }),
);

export const setCors = paths.map((path) =>
  endpoint({
    method: "PUT",
    path: `${path}/:bucket_name/cors`,
    summary: "Set a bucket's CORS rules",
    permission: "buckets.edit",
    plainText: true,
    body: input,
    handle: async ({ params, body, headers }, { objects }) => {
      checkJurisdiction(headers);
      const bucket = await bucketOf(objects, params);
      await objects.setSetting(bucket, "cors", body.rules.map(readRule));
      return {};
    },
  }),
);

export const removeCors = paths.map((path) =>
  endpoint({
    method: "DELETE",
    path: `${path}/:bucket_name/cors`,
    summary: "Delete a bucket's CORS rules",
    permission: "buckets.edit",
    handle: async ({ params, headers }, { objects }) => {
      checkJurisdiction(headers);
      await objects.removeSetting(await bucketOf(objects, params), "cors");
      return {};
    },
  }),
);

function readRule(rule: z.output<typeof input>["rules"][number]): CorsRule {
  const { id, allowed, exposeHeaders, maxAgeSeconds } = rule;
  return {
    ...(id !== undefined && { id }),
    ...allowed,
    exposed: exposeHeaders,
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
  };
}

function showRule({ id, origins, methods, headers, exposed, maxAgeSeconds }: CorsRule): object {
  return {
    ...(id !== undefined && { id }),
    allowed: { origins, methods, ...(headers.length > 0 && { headers }) },
    ...(exposed.length > 0 && { exposeHeaders: exposed }),
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
  };
}
