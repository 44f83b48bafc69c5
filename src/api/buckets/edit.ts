/** Changes the storage class of objects that name none. */
import { z } from "zod";
import { checkShape } from "../check.ts";
import { endpoint } from "../endpoint.ts";
import { paths } from "./paths.ts";
import { bucketOf, checkJurisdiction, showBucket, storageClass } from "./shape.ts";

/** The original has it in a header; a body says the same. */
const HEADER = "cf-r2-storage-class";

const input = z.object({ storage_class: storageClass.optional() }).optional();

export const editBucket = paths.map((path) =>
  endpoint({
    method: "PATCH",
    path: `${path}/:bucket_name`,
    summary: "Change a bucket's default storage class",
    permission: "buckets.edit",
    body: input,
    handle: async ({ params, headers, body }, { objects }) => {
      checkJurisdiction(headers);
      const asked = headers[HEADER] ?? body?.storage_class;
      const { storage_class } = checkShape(z.object({ storage_class: storageClass }), {
        storage_class: asked,
      });
      const { name } = await bucketOf(objects, params);
      return showBucket(await objects.editBucket(name, { storageClass: storage_class }));
    },
  }),
);
