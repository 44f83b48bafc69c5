/** Stores an object: its octets flow from the request to the store. */
import type { S3Call } from "../call.ts";
import { checksumHeaders } from "../checksums.ts";
import { conditionsOf, writeRefusal } from "../conditions.ts";
import { encryptionHeaders } from "../encryption.ts";
import { withExpiration } from "../expiration.ts";
import { S3Fault } from "../fault.ts";
import type { Operation } from "../operation.ts";
import { writeOptionsOf } from "../write-options.ts";

export const putObject: Operation = {
  name: "PutObject",
  method: "PUT",
  on: "object",
  action: "write",
  mayCreateBucket: true,
  async handle(call, { store, now }) {
    const { bucket, key } = call;
    const conditions = conditionsOf(call, now());
    const options = writeOptionsOf(call);
    const { body, size, checksums } = sizedPayload(call);
    const object = await store.put(bucket, key, body, {
      ...options,
      size,
      checksums,
      ...(conditions !== undefined && { conditions }),
    });
    if (object === null) throw writeRefusal(key, conditions, await store.head(bucket, key));
    const etag = ["ETag", `"${object.etag}"`];
    const headers = [...etag, ...checksumHeaders(object), ...encryptionHeaders(object.encryption)];
    return withExpiration({ headers }, store, bucket, object);
  },
};

/** A body whose length is known before it comes, as S3 demands it. */
export function sizedPayload(call: S3Call) {
  const { headers } = call.request;
  const isAnnounced =
    headers["content-length"] !== undefined ||
    headers["x-amz-decoded-content-length"] !== undefined;
  if (!isAnnounced) throw new S3Fault("MissingContentLength");
  const { body, length, checksums } = call.payload();
  if (length === null) throw new S3Fault("MissingContentLength");
  return { body, size: length, checksums };
}
