/** What the object store will not do. */

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
  | "unavailable";

/** Something asked of the object store that it will not do. */
export class ObjectFault extends Error {
  override readonly name = "ObjectFault";
  readonly kind: ObjectFaultKind;

  constructor(kind: ObjectFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
