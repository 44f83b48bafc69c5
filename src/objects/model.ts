/** The words of the object store: what it keeps, and what can be asked of it. */

export type StorageClass = "Standard" | "InfrequentAccess";

export interface Bucket {
  readonly id: string;
  /** Stands for the bucket in the rows of its objects. */
  readonly number: number;
  readonly accountId: string;
  readonly name: string;
  /** Of objects that name none. */
  readonly storageClass: StorageClass;
  readonly createdAt: number;
}

/** What an object carries for the headers of a response. */
export interface HttpMetadata {
  readonly contentType?: string;
  readonly contentLanguage?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly cacheControl?: string;
  /** In ms since the epoch. */
  readonly cacheExpiry?: number;
}

export type Algorithm = "md5" | "sha1" | "sha256" | "sha384" | "sha512";

/** In lower-case hex. */
export type Checksums = Readonly<Partial<Record<Algorithm, string>>>;

export interface ObjectInfo {
  readonly key: string;
  /** 32 hex digits, new with every write. */
  readonly version: string;
  readonly size: number;
  /** Without quotes. */
  readonly etag: string;
  /** When the write was committed, in ms since the epoch. */
  readonly uploadedAt: number;
  readonly http: HttpMetadata;
  readonly custom: Readonly<Record<string, string>>;
  readonly checksums: Checksums;
  readonly storageClass: StorageClass;
}

/** A tag to compare with; a weak one never satisfies `etagMatches`. */
export type EtagPattern =
  | { readonly type: "strong" | "weak"; readonly value: string }
  | { readonly type: "wildcard" };

/** All that are given must hold. */
export interface Conditions {
  readonly etagMatches?: readonly EtagPattern[];
  readonly etagDoesNotMatch?: readonly EtagPattern[];
  /** In ms since the epoch, like the next. */
  readonly uploadedBefore?: number;
  readonly uploadedAfter?: number;
  /** Dates of HTTP headers have whole seconds: compare as many of the upload's time. */
  readonly secondsGranularity?: boolean;
}

export type RangeRequest =
  | { readonly offset?: number; readonly length?: number }
  | { readonly suffix: number };

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * Octets as they arrive. Whoever is given one reads it to its end, or returns it early. `next` may be
 * offered room of the reader's own: octets that begin there need no memory of their own.
 */
export type Body = AsyncIterable<Uint8Array>;

export type GetResult =
  | { readonly kind: "missing" }
  | { readonly kind: "condition-failed"; readonly object: ObjectInfo }
  | {
      readonly kind: "found";
      readonly object: ObjectInfo;
      readonly range: ByteRange;
      /**
       * The octets of the range, of the version that was found, whatever is written meanwhile. Small
       * objects come as they lie in memory, and are the reader's own. A stream must be read or returned, or
       * it holds its blob.
       */
      readonly body: Uint8Array | Body;
    };

export interface WriteOptions {
  readonly http?: HttpMetadata;
  readonly custom?: Readonly<Record<string, string>>;
  /** The bucket's own when absent. */
  readonly storageClass?: StorageClass;
}

/** What is known of a body beforehand. One that turns out otherwise is not stored. */
export interface BodyOptions {
  /** What the octets must add up to, in hex. */
  readonly checksum?: { readonly algorithm: Algorithm; readonly value: string };
  /** How many there must be. */
  readonly size?: number;
}

export interface PutOptions extends WriteOptions, BodyOptions {
  readonly conditions?: Conditions;
}

export interface ListOptions {
  /** 1 to 1000; 1000 by default. Objects and prefixes count alike. */
  readonly limit?: number;
  readonly prefix?: string;
  readonly delimiter?: string;
  /** Exclusive. */
  readonly startAfter?: string;
  /** From an earlier page; with `startAfter` the later of both counts. */
  readonly cursor?: string;
  /**
   * Whether the objects carry their metadata; true by default. Such a page may be shorter, to bound what
   * it holds. Else `http` and `custom` are empty.
   */
  readonly metadata?: boolean;
}

export interface ListPage {
  readonly objects: readonly ObjectInfo[];
  /** Up to the delimiter and with it, sorted, each once. */
  readonly prefixes: readonly string[];
  /** Null on the last page. */
  readonly cursor: string | null;
}

export interface Upload {
  readonly key: string;
  readonly uploadId: string;
  readonly createdAt: number;
  readonly storageClass: StorageClass;
}

export interface UploadedPart {
  readonly partNumber: number;
  readonly etag: string;
}

export interface CompleteOptions {
  /** All parts but the last have one size. The binding asks for it, S3 does not. */
  readonly evenParts: boolean;
}
