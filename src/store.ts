/**
 * The object store as a library: `import { openStore, connectStore } from "selvedge/store"`. An embedded
 * store has a data folder to itself; a connected one is a server's.
 */
import { remoteTransport } from "./binding/remote.ts"; // Not the whole part: a client needs no store.
import { bucketOver } from "./binding/store-bucket.ts";
import type { StorageClass, StoreBucket } from "./binding/types.ts";
import { authHeaders, serverUrl, type StoreCredentials } from "./store-credentials.ts";

export type * from "./binding/types.ts";
export type { StoreCredentials };

export interface OpenStoreOptions {
  /** The data folder; it is made when it is not there. A server can be started on it later. */
  readonly data: string;
  /** Hears of trouble in the background, such as a blob that could not be deleted. */
  readonly onError?: (error: unknown) => void;
}

export interface EmbeddedStore extends AsyncDisposable {
  /** 3 to 63 of `a-z`, `0-9` and `-`, with a letter or digit at both ends. */
  createBucket(
    name: string,
    options?: { readonly storageClass?: StorageClass },
  ): Promise<StoreBucket>;
  /** A handle. Whether there is such a bucket is seen at its first use. */
  bucket(name: string): StoreBucket;
  buckets(): Promise<BucketInfo[]>;
  /** Only when it is empty. */
  deleteBucket(name: string): Promise<void>;
  /** Finishes what is under way. */
  close(): Promise<void>;
}

export interface BucketInfo {
  readonly name: string;
  readonly created: Date;
  /** Of objects that name none. */
  readonly storageClass: StorageClass;
}

/** Opens a store in a folder, which this process then has to itself. */
export async function openStore(options: OpenStoreOptions): Promise<EmbeddedStore> {
  const { openEmbedded } = await import("./embedded-store.ts");
  return openEmbedded(options);
}

export interface ConnectStoreOptions extends StoreCredentials {
  /** Of the server's API; `SELVEDGE_API` or `http://127.0.0.1:8700` when absent. */
  readonly url?: string;
  /** How requests are sent; `fetch` by default. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface ConnectedStore {
  /** A handle. Whether there is such a bucket is seen at its first use. */
  bucket(name: string): StoreBucket;
}

/**
 * A store on a server. Without credentials those of the environment count (`SELVEDGE_TOKEN`, or
 * `SELVEDGE_EMAIL` and `SELVEDGE_KEY`), then those of a data folder on this machine.
 */
export function connectStore(options: ConnectStoreOptions = {}): ConnectedStore {
  const base = serverUrl(options.url, process.env);
  const headers = authHeaders(options, process.env);
  const fetch = options.fetch ?? globalThis.fetch;
  return {
    bucket(name) {
      const url = `${base}/store/v1/${encodeURIComponent(name)}`;
      return bucketOver(remoteTransport({ fetch, url, headers }));
    },
  };
}
