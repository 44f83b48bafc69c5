/** Lists the objects of a bucket by key. */
import { z } from "zod";
import { bucketOf, checkJurisdiction } from "../buckets/shape.ts";
import { endpoint } from "../endpoint.ts";
import { Answer } from "../envelope.ts";
import { listPaths } from "./paths.ts";
import { showListed } from "./shape.ts";

const MAX_PER_PAGE = 1_000;
const DEFAULT_PER_PAGE = 20;

const query = z.object({
  prefix: z.string().optional(),
  delimiter: z.string().min(1).optional(),
  start_after: z.string().optional(),
  cursor: z.string().min(1).optional(),
  per_page: z.coerce.number().int().min(1).max(MAX_PER_PAGE).default(DEFAULT_PER_PAGE),
});

export const listObjects = listPaths.map((path) =>
  endpoint({
    method: "GET",
    path,
    summary: "List objects",
    permission: "objects.read",
    query,
    handle: async ({ params, query, headers }, { objects }) => {
      checkJurisdiction(headers);
      const { prefix, delimiter, start_after, cursor: from, per_page } = query;
      const bucket = await bucketOf(objects, params);
      const {
        objects: page,
        prefixes,
        cursor,
      } = await objects.list(bucket, {
        limit: per_page,
        ...(prefix !== undefined && { prefix }),
        ...(delimiter !== undefined && { delimiter }),
        ...(start_after !== undefined && { startAfter: start_after }),
        ...(from !== undefined && { cursor: from }),
      });
      const more = { is_truncated: cursor !== null, delimited: prefixes, per_page };
      const resultInfo = { ...(cursor !== null && { cursor }), ...more };
      return new Answer(page.map(showListed), { resultInfo });
    },
  }),
);
