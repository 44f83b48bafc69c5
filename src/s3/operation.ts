/** What an operation of S3 declares. The frame routes, authorises and reads by it; `handle` does the rest. */
import type { StreamedBody } from "#http";
import type { Bucket, FoundObject, ObjectStore } from "#objects";
import type { Authentication, S3Action } from "./auth/index.ts";
import type { S3Call } from "./call.ts";

export interface S3Answer {
  /** 200 when absent. */
  readonly status?: number;
  /** Names and values in turn. */
  readonly headers?: string[];
  /** None for HEAD, whose length stands in the headers. Text is XML. */
  readonly body?: string | Uint8Array | StreamedBody;
  /** In place of all else: what takes so long that the client must be kept waiting for it. */
  readonly late?: Promise<S3Answer>;
}

/** What operations work with. */
export interface S3Parts {
  readonly store: ObjectStore;
  readonly authentication: Authentication;
  readonly now: () => number;
  /** Keeps octets under a name, for whoever passes the answer on to the client; null where it must be sent with them. */
  readonly lend?: (bucket: Bucket, found: FoundObject) => string | null;
}

export interface Operation {
  /** S3's own name, for the log and the metrics. */
  readonly name: string;
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly on: "service" | "bucket" | "object";
  /** The query name that tells it from others, whatever its value: `uploads`. */
  readonly resource?: string;
  /** Told from its sibling by `x-amz-copy-source`. */
  readonly copies?: true;
  /** What the caller must be allowed to do there. */
  readonly action: S3Action;
  /** Query names that it reads beside its resource. Others are refused, since they would go unheard. */
  readonly takes?: readonly string[];
  /** Its body tells who asks, so it authorises by itself; `call.caller` may be null. */
  readonly authorisesItself?: true;
  /** The bucket need not be there: `call.bucket` must not be asked for. */
  readonly withoutBucket?: true;
  /** Makes the bucket where `cf-create-bucket-if-missing` asks for it, as R2 does. */
  readonly mayCreateBucket?: true;
  /** May take longer than clients wait. Its answer is a document. */
  readonly takesLong?: true;
  readonly handle: (call: S3Call, parts: S3Parts) => Promise<S3Answer> | S3Answer;
}

export function xmlAnswer(body: string, headers: string[] = []): S3Answer {
  return { headers: ["Content-Type", "application/xml", ...headers], body };
}

export const NO_CONTENT: S3Answer = { status: 204 };
