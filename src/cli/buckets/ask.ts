/** Asks the API about what a bucket is set to. */
import { ApiFault } from "../api-fault.ts";
import type { CommandContext } from "../context.ts";
import { bucketPath } from "./bucket.ts";
import { noSuchBucket } from "./info.ts";

const NO_SUCH_BUCKET = 10_006;

export interface BucketRequest {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the bucket: `cors`. */
  readonly place: string;
  readonly body?: object;
}

/** A bucket that is not there is told with the name that was probably meant. */
export async function askBucket<T>(
  context: CommandContext,
  bucket: string,
  { method = "GET", place, body }: BucketRequest,
): Promise<T> {
  const path = `${await bucketPath(context, bucket)}/${place}`;
  try {
    return (await context.api.request<T>(method, path, { body })).result;
  } catch (error) {
    if (!isRefusal(error, NO_SUCH_BUCKET)) throw error;
    throw await noSuchBucket(context, bucket, error);
  }
}

/** Whether the API has refused something for this reason. */
export function isRefusal(error: unknown, code: number): error is ApiFault {
  return error instanceof ApiFault && error.errors.some((one) => one.code === code);
}
