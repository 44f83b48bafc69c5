/**
 * The types of a bucket as scripts and programs see it. Only what the web platform has is named here,
 * so that the same file serves Node and workerd.
 */

/** A bucket. Every method but `resumeMultipartUpload` answers wrong arguments with a rejection. */
export interface StoreBucket {
  /** The object's metadata; null when there is none. */
  head(key: string): Promise<StoreObject | null>;
  get(
    key: string,
    options?: StoreGetOptions & { onlyIf?: undefined },
  ): Promise<StoreObjectBody | null>;
  /** When `onlyIf` does not hold, the object comes without a body. */
  get(key: string, options?: StoreGetOptions): Promise<StoreObjectBody | StoreObject | null>;
  put(
    key: string,
    value: StoreValue | null,
    options?: StorePutOptions & { onlyIf?: undefined },
  ): Promise<StoreObject>;
  /** When `onlyIf` does not hold, nothing is stored and the result is null. */
  put(
    key: string,
    value: StoreValue | null,
    options?: StorePutOptions,
  ): Promise<StoreObject | null>;
  /** One key, or 1 to 1000. A key that is not there is no fault. */
  delete(keys: string | string[]): Promise<void>;
  /** In the order of the keys' UTF-8 octets. Go on with `cursor` while `truncated`. */
  list(options?: StoreListOptions): Promise<StoreObjects>;
  createMultipartUpload(
    key: string,
    options?: StoreMultipartOptions,
  ): Promise<StoreMultipartUpload>;
  /** A handle to an upload that was begun before. Nothing is checked. */
  resumeMultipartUpload(key: string, uploadId: string): StoreMultipartUpload;
}

export type StoreValue = ReadableStream<Uint8Array> | ArrayBuffer | ArrayBufferView | string | Blob;

export type StorageClass = "Standard" | "InfrequentAccess";

export interface StoreObject {
  readonly key: string;
  /** New with every write of the key. */
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  /** The etag in quotes, as headers have it. */
  readonly httpEtag: string;
  readonly uploaded: Date;
  readonly httpMetadata?: StoreHTTPMetadata;
  readonly customMetadata?: Record<string, string>;
  /** The part of the object that was returned. */
  readonly range?: { readonly offset: number; readonly length: number };
  readonly checksums: StoreChecksums;
  readonly storageClass: StorageClass;
  /** Of an object encrypted with its owner's key: the MD5 of the key, in base64. */
  readonly ssecKeyMd5?: string;
  /** Sets the headers that `httpMetadata` has; others stay. */
  writeHttpMetadata(headers: Headers): void;
}

export interface StoreObjectBody extends StoreObject {
  readonly body: ReadableStream<Uint8Array>;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  json<T>(): Promise<T>;
  blob(): Promise<Blob>;
}

export interface StoreMultipartUpload {
  readonly key: string;
  readonly uploadId: string;
  /** 1 to 10,000. The same number again replaces the part. */
  uploadPart(
    partNumber: number,
    value: StoreValue,
    options?: StoreUploadPartOptions,
  ): Promise<StoreUploadedPart>;
  abort(): Promise<void>;
  /** All parts but the last must have one size, of at least 5 MiB. */
  complete(uploadedParts: StoreUploadedPart[]): Promise<StoreObject>;
}

export interface StoreUploadedPart {
  partNumber: number;
  etag: string;
}

export type StoreRange =
  | { offset: number; length?: number }
  | { offset?: number; length: number }
  | { suffix: number };

export interface StoreHTTPMetadata {
  contentType?: string;
  contentLanguage?: string;
  contentDisposition?: string;
  contentEncoding?: string;
  cacheControl?: string;
  cacheExpiry?: Date;
}

export interface StoreChecksums {
  readonly md5?: ArrayBuffer;
  readonly sha1?: ArrayBuffer;
  readonly sha256?: ArrayBuffer;
  readonly sha384?: ArrayBuffer;
  readonly sha512?: ArrayBuffer;
  /** In hex. */
  toJSON(): Partial<Record<"md5" | "sha1" | "sha256" | "sha384" | "sha512", string>>;
}

export interface StoreConditional {
  /** Without quotes; `*` is any. */
  etagMatches?: string;
  etagDoesNotMatch?: string;
  uploadedBefore?: Date;
  uploadedAfter?: Date;
  /** Compares whole seconds, as HTTP does. */
  secondsGranularity?: boolean;
}

/** 32 octets, or 64 digits of lower-case hex. The store does not keep it: what it encrypted is lost with it. */
export type StoreSsecKey = ArrayBuffer | ArrayBufferView | string;

export interface StoreGetOptions {
  onlyIf?: StoreConditional | Headers;
  range?: StoreRange | Headers;
  /** The key that the object was put with. */
  ssecKey?: StoreSsecKey;
}

export interface StoreUploadPartOptions {
  /** The key that the upload was begun with. */
  ssecKey?: StoreSsecKey;
}

export interface StorePutOptions {
  onlyIf?: StoreConditional | Headers;
  httpMetadata?: StoreHTTPMetadata | Headers;
  customMetadata?: Record<string, string>;
  /** At most one of these: octets, or hex. */
  md5?: ArrayBuffer | ArrayBufferView | string;
  sha1?: ArrayBuffer | ArrayBufferView | string;
  sha256?: ArrayBuffer | ArrayBufferView | string;
  sha384?: ArrayBuffer | ArrayBufferView | string;
  sha512?: ArrayBuffer | ArrayBufferView | string;
  /** The bucket's own when absent. */
  storageClass?: StorageClass;
  /** Keeps the object encrypted. */
  ssecKey?: StoreSsecKey;
}

export interface StoreMultipartOptions {
  httpMetadata?: StoreHTTPMetadata | Headers;
  customMetadata?: Record<string, string>;
  storageClass?: StorageClass;
  ssecKey?: StoreSsecKey;
}

export interface StoreListOptions {
  /** 1 to 1000; 1000 by default. */
  limit?: number;
  prefix?: string;
  cursor?: string;
  delimiter?: string;
  /** Only keys after this one. */
  startAfter?: string;
  include?: ("httpMetadata" | "customMetadata")[];
}

export interface StoreObjects {
  readonly objects: StoreObject[];
  readonly truncated: boolean;
  /** There only when more remains. */
  readonly cursor?: string;
  readonly delimitedPrefixes: string[];
}
