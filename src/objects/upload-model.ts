/** The words of multipart uploads, and of the parts that objects are made of. */
import type {
  Algorithm,
  BodyOptions,
  Checksums,
  ChecksumType,
  Conditions,
  CustomerKey,
  ObjectInfo,
  StorageClass,
  WriteOptions,
} from "./model.ts";

export interface UploadOptions extends WriteOptions {
  readonly checksum?: ChecksumChoice;
}

/** What an upload says of the checksum that its parts, and at last the object, will have. */
export interface ChecksumChoice {
  readonly algorithm: Algorithm;
  readonly type: ChecksumType;
}

export interface Upload {
  readonly key: string;
  readonly uploadId: string;
  readonly createdAt: number;
  readonly storageClass: StorageClass;
  readonly checksum: ChecksumChoice | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly encryption: { readonly keyMd5: string } | null;
}

export interface UploadListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  /** Only what comes behind this key, and with it behind this upload of the key. */
  readonly keyMarker?: string;
  readonly uploadIdMarker?: string;
  /** 1 to 1000; 1000 by default. Uploads and prefixes count alike. */
  readonly limit?: number;
}

/** By key, and those of a key by their age. */
export interface UploadPage {
  readonly uploads: readonly Upload[];
  readonly prefixes: readonly string[];
  /** The markers of the next page; null on the last one. */
  readonly next: { readonly key: string; readonly uploadId: string } | null;
}

export interface PartOptions extends BodyOptions {
  /** The key that the upload was begun with. */
  readonly encryption?: CustomerKey;
}

/** A part as it was kept. */
export interface StoredPart {
  readonly partNumber: number;
  readonly etag: string;
  readonly checksums: Checksums;
}

export interface PartInfo extends StoredPart {
  readonly size: number;
  readonly uploadedAt: number;
}

export interface PartListOptions {
  /** Exclusive. */
  readonly after?: number;
  /** 1 to 1000; 1000 by default. */
  readonly limit?: number;
}

export interface PartPage {
  readonly upload: Upload;
  readonly parts: readonly PartInfo[];
  /** What the next page comes after; null on the last one. */
  readonly next: number | null;
}

/** The parts of an object are counted from 1, whatever numbers they had in the upload. */
export interface ObjectPartPage {
  readonly object: ObjectInfo;
  readonly parts: readonly (PartInfo & { readonly start: number })[];
  readonly next: number | null;
}

/** A part as whoever completes an upload names it. */
export interface UploadedPart {
  readonly partNumber: number;
  readonly etag: string;
  readonly checksum?: NamedChecksum;
}

export interface NamedChecksum {
  readonly algorithm: Algorithm;
  /** In hex. */
  readonly value: string;
}

export interface CompleteOptions {
  /** All parts but the last have one size. The binding asks for it, S3 does not. */
  readonly evenParts: boolean;
  readonly conditions?: Conditions;
  /** What the object must have; of a composite one, without the number of parts. */
  readonly checksum?: NamedChecksum;
  /** The type that the upload must have been begun with, if it was with any. */
  readonly checksumType?: ChecksumType;
  /** How many octets it must have. */
  readonly size?: number;
  /** The key that the upload was begun with; it need not be given again. */
  readonly encryption?: CustomerKey;
  /** Whether an upload that was completed already gives the same answer again; true by default. */
  readonly isRepeatable?: boolean;
}
