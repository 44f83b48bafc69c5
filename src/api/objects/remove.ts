/** Deletes an object. One that is not there is no fault. */
import { bucketOf, checkJurisdiction } from "../buckets/shape.ts";
import { endpoint } from "../endpoint.ts";
import { keyOf, paths } from "./paths.ts";

export const removeObject = paths.map((path) =>
  endpoint({
    method: "DELETE",
    path,
    summary: "Delete an object",
    permission: "objects.edit",
    handle: async ({ params, headers }, { objects }) => {
      checkJurisdiction(headers);
      const key = keyOf(params);
      await objects.delete(await bucketOf(objects, params), [key]);
      return { key };
    },
  }),
);
