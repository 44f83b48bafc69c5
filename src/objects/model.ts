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
  /** Moves with every change of its settings. */
  readonly settingsRevision: number;
  /** How many rules it has for who is told of its changes. */
  readonly notifications: number;
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

export type Algorithm =
  | "md5"
  | "sha1"
  | "sha256"
  | "sha384"
  | "sha512"
  | "crc32"
  | "crc32c"
  | "crc64nvme";

/** In lower-case hex. */
export type Checksums = Readonly<Partial<Record<Algorithm, string>>>;

/** Of the whole object, or of the checksums of its parts. */
export type ChecksumType = "full" | "composite";

/** A key that only the caller has: octets are kept encrypted with it, and it is kept nowhere. */
export interface CustomerKey {
  /** 32 octets. */
  readonly key: Uint8Array;
}

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
  /** Of the checksums beside MD5; null when there are none. */
  readonly checksumType: ChecksumType | null;
  readonly storageClass: StorageClass;
  readonly tags: Readonly<Record<string, string>>;
  /** Null for an object that was not put in parts. */
  readonly partCount: number | null;
  /** Of an object encrypted with its owner's key: the MD5 of the key, in base64. Its etag is no MD5. */
  readonly encryption: { readonly keyMd5: string } | null;
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

/** What must be there for a delete; `secondsGranularity` counts for `uploadedAt` too. */
export interface DeleteConditions extends Conditions {
  readonly size?: number;
  readonly uploadedAt?: number;
}

export type DeleteOutcome = "deleted" | "missing" | "condition-failed";

export type RangeRequest =
  | { readonly offset?: number; readonly length?: number }
  | { readonly suffix: number };

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * Octets as they arrive, each piece good until the next is asked for. Whoever is given one reads it to its end, or
 * returns it early. `next` may be given an Offer: octets that lie in room of the reader's own need no memory of their
 * own, and for those of a file that were moved to where they go stands an empty piece.
 */
export type Body = AsyncIterable<Uint8Array>;

export interface HeadOptions {
  /** Held to the object's key: without it an encrypted object is a fault, as for a get. */
  readonly encryption: CustomerKey | undefined;
}

export interface GetOptions {
  readonly conditions?: Conditions;
  readonly range?: RangeRequest;
  /** Instead of a range: the part of that place, from 1. An object that is not of parts has one. */
  readonly partNumber?: number;
  /** The key of an encrypted object. */
  readonly encryption?: CustomerKey;
}

export type GetResult =
  | { readonly kind: "missing" }
  | { readonly kind: "condition-failed"; readonly object: ObjectInfo }
  | {
      readonly kind: "found";
      readonly object: ObjectInfo;
      readonly range: ByteRange;
      /**
       * The octets of the range, of the version that was found, whatever is written meanwhile. Small
       * objects come as they lie in memory: others may read them there, so nobody may change them. A stream
       * must be read or returned, or it holds its blob.
       */
      readonly body: Uint8Array | Body;
      /** Its octets can be moved from files, all or all but a few. */
      readonly isInFiles: boolean;
    };

export type FoundObject = Extract<GetResult, { kind: "found" }>;

export interface WriteOptions {
  readonly http?: HttpMetadata;
  readonly custom?: Readonly<Record<string, string>>;
  /** The bucket's own when absent. */
  readonly storageClass?: StorageClass;
  /** At most ten. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Keeps the octets encrypted. */
  readonly encryption?: CustomerKey;
}

/** A checksum of a body. */
export interface ExpectedChecksum {
  readonly algorithm: Algorithm;
  /**
   * What the octets must add up to, in hex. Without one it is computed only; a function is asked when they
   * have all come, and says null when it has none.
   */
  readonly value?: string | (() => string | null);
  /** False for one that is checked and not kept with the object. */
  readonly isKept?: boolean;
}

/** What is known of a body beforehand. One that turns out otherwise is not stored. */
export interface BodyOptions {
  readonly checksums?: readonly ExpectedChecksum[];
  /** How many octets there must be. */
  readonly size?: number;
}

/** How an object came, for those who are told of it: not by a put of its own. */
export type CameBy =
  | { readonly kind: "copy"; readonly bucket: string; readonly key: string }
  | { readonly kind: "post" };

export interface PutOptions extends WriteOptions, BodyOptions {
  readonly conditions?: Conditions;
  readonly cameBy?: CameBy;
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
