/** Who asks, once it is proved, and what they may do. */
import { type OpenS3Key, permitsOnS3, type S3Action, type S3Deed, type S3Session } from "#accounts";

export interface Caller {
  readonly accessKeyId: string;
  readonly accountId: string;
  /**
   * `key` is the object's, or the prefix of a list. Where a request names its keys in its body there is none
   * (or an empty one), and each of them must be asked for when it is known. `operation` is S3's name.
   */
  may(action: S3Action, bucket: string | null, key?: string, operation?: string): boolean;
}

export function callerOf(key: OpenS3Key, session: S3Session | null): Caller {
  const { accessKeyId, accountId } = key;
  return {
    accessKeyId,
    accountId,
    may(action, bucket, name = "", operation = "") {
      const deed: S3Deed =
        name === "" ? { action, bucket, operation } : { action, bucket, operation, key: name };
      // Temporary credentials open no more than the key that they come from.
      return permitsOnS3(key, deed) && (session === null || permitsOnS3(session, deed));
    },
  };
}
