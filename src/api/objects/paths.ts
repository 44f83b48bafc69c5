/** Where the objects of a bucket are, under both names of buckets. */
import { paths as buckets } from "../buckets/paths.ts";
import { malformedId } from "../errors.ts";

export const listPaths = buckets.map((path) => `${path}/:bucket_name/objects` as const);
export const paths = buckets.map((path) => `${path}/:bucket_name/objects/*object_key` as const);

/** The key as it stands in the path, where slashes may be slashes. */
export function keyOf({ object_key }: { readonly object_key: string }): string {
  try {
    return decodeURIComponent(object_key);
  } catch {
    throw malformedId(object_key);
  }
}
