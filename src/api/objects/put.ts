/** Stores an object: its octets flow from the request to the store. */
import { z } from "zod";
import { requestOctets } from "#http";
import { bucketOf, checkJurisdiction, storageClass } from "../buckets/shape.ts";
import { checkShape } from "../check.ts";
import { endpoint } from "../endpoint.ts";
import { keyOf, paths } from "./paths.ts";
import { httpMetadataOf, showStored } from "./shape.ts";

const CLASS_HEADER = "cf-r2-storage-class";

const input = z.object({ [CLASS_HEADER]: storageClass.optional() });

export const putObject = paths.map((path) =>
  endpoint({
    method: "PUT",
    path,
    summary: "Store an object",
    permission: "objects.edit",
    handle: async ({ params, headers, request }, { objects }) => {
      checkJurisdiction(headers);
      const { [CLASS_HEADER]: asked } = checkShape(input, headers);
      const length = headers["content-length"];
      const bucket = await bucketOf(objects, params);
      const stored = await objects.put(bucket, keyOf(params), requestOctets(request), {
        http: httpMetadataOf(headers),
        ...(asked !== undefined && { storageClass: asked }),
        ...(length !== undefined && { size: Number(length) }),
      });
      return showStored(stored!); // No condition was set that could fail.
    },
  }),
);
