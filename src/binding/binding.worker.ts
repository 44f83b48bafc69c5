/**
 * What puts a bucket on a script's `env`: workerd calls it at the start with the bindings that only this
 * module sees. Runs inside workerd, so only what the web platform has may be imported here.
 */
import { lending } from "./lending.ts";
import { type RemoteOptions, remoteTransport } from "./remote.ts";
import { bucketOver, type Compatibility } from "./store-bucket.ts";
import type { StoreBucket } from "./types.ts";

export { atEdge } from "./lending.ts";

interface InnerBindings {
  /** The store's door. It adds the token that opens this script's buckets, which no script sees. */
  readonly store: { readonly fetch: RemoteOptions["fetch"] };
  readonly bucketName: string;
  readonly compatibility: Compatibility;
}

export default function bindBucket(inner: InnerBindings): StoreBucket {
  const { store, bucketName, compatibility } = inner;
  const transport = remoteTransport({
    fetch: (url, init) => store.fetch(url, init),
    url: `http://store/store/v1/${encodeURIComponent(bucketName)}`,
    headers: {},
    lending,
  });
  return bucketOver(transport, compatibility);
}
