/** What the object store will not do. */
import type { Algorithm } from "./model.ts";

export type ObjectFaultKind =
  | "no-such-bucket"
  | "bad-bucket-name"
  | "bucket-exists"
  | "bucket-not-empty"
  | "too-many-buckets"
  | "bad-key"
  | "bad-key-count"
  | "bad-limit"
  | "bad-cursor"
  | "bad-range"
  | "bad-storage-class"
  | "bad-digest"
  | "incomplete-body"
  | "metadata-too-large"
  | "too-large"
  | "no-such-upload"
  | "no-such-part"
  | "duplicate-part"
  | "part-too-small"
  | "uneven-parts"
  | "bad-checksum-type"
  | "key-required"
  | "bad-key-for-object"
  | "bad-cors"
  | "bad-lifecycle"
  | "bad-tags"
  | "bad-domain"
  | "domain-taken"
  | "no-such-domain"
  | "bad-notification"
  | "too-many-notifications"
  | "no-such-notification"
  | "unavailable";

export interface ObjectFaultOptions extends ErrorOptions {
  /** The one that was wrong. */
  readonly checksum?: { readonly algorithm: Algorithm; readonly isKept: boolean };
}

/** Something asked of the object store that it will not do. */
export class ObjectFault extends Error {
  override readonly name = "ObjectFault";
  readonly kind: ObjectFaultKind;
  readonly #checksum: ObjectFaultOptions["checksum"];

  constructor(kind: ObjectFaultKind, message: string, options: ObjectFaultOptions = {}) {
    super(message, options);
    this.kind = kind;
    this.#checksum = options.checksum;
  }

  /** Of a "bad-digest". */
  get algorithm(): Algorithm | null {
    return this.#checksum?.algorithm ?? null;
  }

  /** False when that checksum was only to be checked: it is none of the object's own. */
  get isKept(): boolean {
    return this.#checksum?.isKept ?? true;
  }
}
