/** Runs what is asked of the store. */
import { DatabaseFault } from "#db";
import { noSuchBucket } from "./buckets.ts";
import { ObjectFault } from "./fault.ts";

/** Tells the database's faults in the store's own terms. */
export async function run<T>(bucketName: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseFault)) throw error;
    // Rows of objects and uploads need their bucket's.
    if (error.kind === "reference") throw noSuchBucket(bucketName);
    const message =
      error.kind === "full"
        ? "The database's disk is full"
        : "The database cannot do this right now; try again shortly";
    throw new ObjectFault("unavailable", message, { cause: error });
  }
}
