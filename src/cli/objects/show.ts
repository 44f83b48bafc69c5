/** An object for people and as JSON. */
import type { StoreObject } from "#binding";
import { CliFault } from "../fault.ts";
import type { Address } from "./address.ts";

export function objectJson(bucket: string, object: StoreObject): object {
  const { key, version, size, etag, uploaded, storageClass } = object;
  const { httpMetadata, customMetadata } = object;
  return {
    bucket,
    key,
    size,
    etag,
    version,
    uploaded: uploaded.toISOString(),
    storage_class: storageClass,
    ...(httpMetadata !== undefined && { http_metadata: httpMetadata }),
    ...(customMetadata !== undefined && { custom_metadata: customMetadata }),
  };
}

export function noSuchObject({ bucket, key }: Address): CliFault {
  const look = `"selvedge object list ${bucket}" shows what there is.`;
  return new CliFault("not-found", `There is no object ${key} in ${bucket}. ${look}`);
}
