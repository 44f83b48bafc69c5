/**
 * What the bucket class and the store say to each other: one JSON request, octets beside it where there
 * are some, one JSON reply. How it travels is the transport's matter.
 */

export interface WireHttpFields {
  contentType?: string;
  contentLanguage?: string;
  contentDisposition?: string;
  contentEncoding?: string;
  cacheControl?: string;
  /** In ms since the epoch. */
  cacheExpiry?: number;
}

export type WireEtag = { type: "strong" | "weak"; value: string } | { type: "wildcard" };

export interface WireConditions {
  etagMatches?: WireEtag[];
  etagDoesNotMatch?: WireEtag[];
  uploadedBefore?: number;
  uploadedAfter?: number;
  secondsGranularity?: boolean;
}

export type Algorithm = "md5" | "sha1" | "sha256" | "sha384" | "sha512";

/** In the order in which they are read. */
export const ALGORITHMS: readonly Algorithm[] = ["md5", "sha1", "sha256", "sha384", "sha512"];

export interface WireWrite {
  http?: WireHttpFields;
  custom?: Record<string, string>;
  storageClass?: string;
  ssecKey?: string;
}

export type StoreRequest =
  | { method: "head"; key: string }
  | {
      method: "get";
      key: string;
      onlyIf?: WireConditions;
      range?: { offset?: number; length?: number; suffix?: number };
      /** The text of a Range header. */
      rangeHeader?: string;
      /** In hex. */
      ssecKey?: string;
      /** The octets may be lent. */
      lends?: true;
    }
  | { method: "begin"; lent: string }
  | ({
      method: "put";
      key: string;
      onlyIf?: WireConditions;
      checksum?: { algorithm: Algorithm; hex: string };
    } & WireWrite)
  | { method: "delete"; keys: string[] }
  | {
      method: "list";
      limit?: number;
      prefix?: string;
      cursor?: string;
      delimiter?: string;
      startAfter?: string;
      include: ("httpMetadata" | "customMetadata")[];
    }
  | ({ method: "createMultipartUpload"; key: string } & WireWrite)
  | { method: "uploadPart"; key: string; uploadId: string; partNumber: number; ssecKey?: string }
  | {
      method: "completeMultipartUpload";
      key: string;
      uploadId: string;
      parts: { partNumber: number; etag: string }[];
    }
  | { method: "abortMultipartUpload"; key: string; uploadId: string };

export type StoreMethod = StoreRequest["method"];

export interface WireObject {
  key: string;
  version: string;
  size: number;
  etag: string;
  /** In ms since the epoch. */
  uploaded: number;
  /** Missing in a list that was not asked for it. */
  http?: WireHttpFields;
  custom?: Record<string, string>;
  range?: { offset: number; length: number };
  checksums: Partial<Record<Algorithm, string>>;
  storageClass: string;
  /** In base64. */
  ssecKeyMd5?: string;
}

export interface WireList {
  objects: WireObject[];
  truncated: boolean;
  cursor?: string;
  /** With their delimiter. */
  prefixes: string[];
}

/** Octets on their way to the store. A stream's length need not be known. */
export type RequestBody = Uint8Array | ReadableStream<Uint8Array>;

/**
 * Octets on their way from the store. What gives them may be offered room, as the argument of `next`: octets
 * that begin there need no memory of their own.
 */
export type Octets = Uint8Array | AsyncIterable<Uint8Array>;

/** Octets that stay in the store until they are asked for, or whoever answers the caller's client has taken them by name. */
export interface LentOctets {
  readonly lent: string;
  /** Nothing comes before `begin`. */
  readonly stream: ReadableStream<Uint8Array>;
  begin(): void;
}

export type StoreReply =
  | { ok: true; result: unknown; body?: Octets | LentOctets }
  | { ok: false; status: number; code: number; message: string; result?: unknown };

/** Brings requests to one bucket. Throws only what is no answer of the store: a broken connection. */
export interface StoreTransport {
  /** Whether it can be told that octets may be lent. */
  readonly lends?: boolean;
  send(request: StoreRequest, body: RequestBody | null): Promise<StoreReply>;
}
